import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Request, Response } from 'express';
import pLimit from 'p-limit';
import type { Caller } from '../../access/http/index.ts';
import type { InstallationStats } from '../../live/installation-stats.ts';
import type { Context } from '../../observability/index.ts';
import type { Store } from '../../store/index.ts';
import { compressEvents } from '../compression.ts';
import type { Limits } from '../long-requests.ts';
import { Channel, type ChannelDeps, snapshotOf } from './channel.ts';
import type { Frames } from './frames.ts';
import type { JudgedItem } from './latest-cache.ts';
import { readSubscription, type Subscription } from './subscription.ts';

/**
 * Periods of the stream, in ms:
 *
 * - `coalesce`: all changes of a sensor within this time are sent as one change
 * - `stats`: interval of the event `stats`
 * - `heartbeat`: interval of comments on a quiet stream; a reader that reads nothing between two comments is disconnected
 * - `rest`: time for which a channel without readers is kept
 */
const PERIODS_MS = { coalesce: 250, stats: 1000, heartbeat: 15_000, rest: 60_000 };

/** Limit for all readers together. */
const CONCURRENT_READS = 4;

/** Judges newest values before readers get them. */
export interface Judge {
  /** writes into `item`; `key`: `device id/sensor id` */
  judge: (key: string, item: JudgedItem) => void;
  /** called when values may be judged differently; returns a function that removes the listener */
  onChange: (listener: () => void) => () => void;
}

const WHOLE_FLEET: Subscription = { devices: new Map(), sensors: new Map(), everything: true };

/** Channels without readers, for readers that reconnect. */
const MAX_RESTING = 100;

/**
 * `GET /stream`: server-sent events. A reader gets a snapshot of its subscription, then the changes and the rates of the pipeline. Every
 * reader also gets the events of features. A reader that reconnects sends `Last-Event-ID` and gets the changes since that event, or a
 * snapshot if its channel has ended. So a reader never misses a newest value.
 */
export function createStream(
  deps: Pick<Context, 'clock' | 'logger' | 'metrics'> & {
    store: Store;
    limits: Pick<Limits, 'streams'>;
    live: ChannelDeps['live'];
    stats: Pick<InstallationStats, 'read' | 'health'>;
    /** in ms; a channel then reads `latest` again */
    resyncMs: number;
  },
  periods: typeof PERIODS_MS = PERIODS_MS,
) {
  const { limits, stats, resyncMs, clock, logger, metrics } = deps;
  let judge: Judge | null = null;
  const limit = pLimit(CONCURRENT_READS);
  const storedPages = (of: Subscription) => snapshotOf(deps.store.fleet, deps.store.groups, of);
  const channels = createChannels(
    { ...deps, judge: () => judge, limit, storedPages, periods: { ...periods, resync: resyncMs } },
    periods.rest,
  );
  const readers: Set<Reader> = new Set();
  metrics.gauge('iot_http_streams', 'Readers of the live stream', () => readers.size);
  /** run while there is at least one reader */
  let timers: NodeJS.Timeout[] = [];

  const statsFrame = () => frameOf('stats', JSON.stringify({ ...stats.read(), health: stats.health() }));

  function enter(reader: Reader) {
    readers.add(reader);
    if (readers.size > 1) return;
    const sendStats = () => {
      const frame = statsFrame();
      for (const each of readers) each.sendIfWritable(frame);
    };
    const sendHeartbeat = () => {
      for (const each of readers) each.heartbeat();
    };
    timers = [setInterval(sendStats, periods.stats), setInterval(sendHeartbeat, periods.heartbeat)];
  }

  function leave(reader: Reader) {
    readers.delete(reader);
    if (readers.size === 0) for (const timer of timers.splice(0)) clearInterval(timer);
  }

  async function handler(req: Request, res: Response) {
    const subscription = readSubscription(req.url);
    res.once('close', limits.streams.acquire());
    res.set({ 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
    const events = compressEvents(req, res);
    if (req.method === 'HEAD') return void res.end();
    res.flushHeaders();

    const reader = createReader(res, events);
    const { channel, release } = channels.hold(subscription);
    enter(reader);
    const sessionTimer = endWithSession(res, reader, clock());
    res.on('close', () => {
      clearTimeout(sessionTimer);
      leave(reader);
      channel.leave(reader);
      release();
    });
    reader.sendIfWritable(statsFrame());
    try {
      await channel.loading;
      if (reader.isOpen()) channel.join(reader, req.get('Last-Event-ID') ?? '');
    } catch (error) {
      // The EventSource of the reader reconnects by itself and requests the snapshot again.
      logger.warn({ reason: String(error) }, 'a snapshot could not be read; the reader will reconnect');
      reader.end();
    }
  }

  return {
    handler,
    /**
     * From the channel that readers of the whole fleet share. If it is not open, this opens it, and it is kept for a minute. Throws
     * `unavailable`.
     */
    async latest(): Promise<JudgedItem[]> {
      const { channel, release } = channels.hold(WHOLE_FLEET);
      try {
        await channel.loading;
        return channel.entries().map(({ item }) => item);
      } finally {
        release();
      }
    },

    /** Channels that open later judge their values. */
    judgeBy(given: Judge) {
      judge = given;
    },

    /** To all readers that are connected. `data`: JSON in one line. */
    sendEvent(name: string, data: string) {
      const frame = frameOf(name, data);
      for (const reader of readers) reader.sendOrDisconnect(frame);
    },

    removeDevice: channels.removeDevice,

    readers: (): number => readers.size,
    stop() {
      for (const reader of readers) reader.end();
      channels.stop();
    },
  };
}

export type Stream = ReturnType<typeof createStream>;

const frameOf = (event: string, data: string) => Buffer.from(`event: ${event}\ndata: ${data}\n\n`);

/** The caller of an expired session has to sign in again. */
function endWithSession(res: Response, reader: Reader, now: number) {
  const { endsAt }: Caller = res.locals['caller'];
  return endsAt === null ? undefined : setTimeout(() => reader.end(), endsAt - now);
}

/** In the connection of a reader. Above it, the reader is too slow, and the next event of a feature closes its connection. */
const MAX_WAITING_BYTES = 1024 * 1024;

/**
 * Unread data waits in the connection: one event, the events of features after it, and the bytes that the socket itself buffers. So a slow
 * reader costs little memory. The headers of `res` must be sent. `events` may be a compressor in front of it.
 */
export function createReader(res: Response, events: Writable = res) {
  let stalled = false;
  const closed = new AbortController();
  res.on('close', () => closed.abort());
  events.on('drain', () => {
    stalled = false;
  });

  const isOpen = () => !closed.signal.aborted && !events.writableEnded;
  const isBehind = () => events.writableNeedDrain;

  return {
    /** The reader has all changes up to this position of the channel. */
    position: 0,

    busy: false,

    isOpen,

    /** A reader may miss this event: it is not sent while earlier ones wait. */
    sendIfWritable(frame: Buffer) {
      if (isOpen() && !isBehind()) events.write(frame);
    },

    /**
     * The event is sent even while earlier ones wait. The connection of a reader that is too slow is closed, so that it knows that it missed
     * events.
     */
    sendOrDisconnect(frame: Buffer) {
      if (!isOpen()) return;
      if (events.writableLength > MAX_WAITING_BYTES) res.destroy();
      else events.write(frame);
    },

    /** As fast as the reader takes the events. Resolves when all are sent, or the reader has disconnected. */
    async send({ position, count, frame }: Frames): Promise<void> {
      this.busy = true;
      for (let index = 0; index < count; index++) {
        // The wait fails only if the reader disconnects.
        if (isOpen() && isBehind()) await once(events, 'drain', { signal: closed.signal }).catch(() => {});
        if (!isOpen()) return;
        events.write(frame(index));
      }
      this.position = position;
      this.busy = false;
    },

    /**
     * The comment keeps proxies from closing a quiet stream. A reader that has read nothing since the last heartbeat is disconnected. It
     * reconnects and continues from its last event.
     */
    heartbeat() {
      if (!isOpen()) return;
      if (!isBehind()) events.write(':\n\n');
      else if (stalled) res.destroy();
      else stalled = true;
    },

    end: () => events.end(),
  };
}

export type Reader = ReturnType<typeof createReader>;

/** A channel without readers is kept for `restMs`. So a reader that reconnects continues from its last event. */
function createChannels(deps: ChannelDeps, restMs: number) {
  type Held = { channel: Channel; holders: number; rest: NodeJS.Timeout | undefined };
  const channels: Map<string, Held> = new Map();
  /** channels without readers, the longest resting first */
  const resting: Map<string, Held> = new Map();

  function end(key: string, held: Held) {
    clearTimeout(held.rest);
    held.channel.end();
    resting.delete(key);
    if (channels.get(key) === held) channels.delete(key);
  }

  function release(key: string, held: Held) {
    if (--held.holders > 0 || channels.get(key) !== held) return;
    resting.set(key, held);
    held.rest = setTimeout(end, restMs, key, held);
    const [oldest] = resting;
    if (resting.size > MAX_RESTING && oldest) end(...oldest);
  }

  function open(key: string, subscription: Subscription) {
    const held: Held = { channel: new Channel(subscription, deps), holders: 0, rest: undefined };
    channels.set(key, held);
    // After a failure, end the channel. The next reader then opens a new channel.
    held.channel.loading.catch(() => end(key, held));
    return held;
  }

  return {
    /** The caller must call `release` once. */
    hold(subscription: Subscription): { channel: Channel; release: () => void } {
      const key = keyOf(subscription);
      const held = channels.get(key) ?? open(key, subscription);
      held.holders++;
      clearTimeout(held.rest);
      resting.delete(key);
      return { channel: held.channel, release: () => release(key, held) };
    },

    /** Without this, snapshots of new readers would have the retired device until the next resync, within a minute. */
    removeDevice(device: string) {
      for (const { channel } of channels.values()) channel.removeDevice(device);
    },

    stop() {
      for (const [key, held] of channels) end(key, held);
    },
  };
}

const keyOf = ({ devices, sensors }: Subscription): string =>
  [...[...devices.keys()].sort(), ...[...sensors.keys()].sort()].join(' ');
