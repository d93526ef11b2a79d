import { once } from 'node:events';
import pLimit from 'p-limit';
import { compressEvents } from '../compression.js';
import { createChannel } from './channel.js';
import { readSubscription } from './subscription.js';

/** @import { Caller } from '../../access/http/index.js' */
/** @import { Channel, ChannelDeps } from './channel.js' */
/** @import { Frames } from './frames.js' */
/** @import { ConcurrencyLimit } from '../long-requests.js' */
/** @import { MillraceError } from '../../../common/errors.js' */
/** @import { RequestHandler, Response } from 'express' */
/** @import { RouteDeps } from '../api.js' */
/** @import { Subscription } from './subscription.js' */
/** @import { Writable } from 'node:stream' */
/** @import { JudgedItem } from './latest-cache.js' */

/**
 * Periods of the stream, in ms:
 *
 * - `coalesce`: all changes of a sensor within this time are sent as one change
 * - `stats`: interval of the event `stats`
 * - `heartbeat`: interval of comments on a quiet stream; a reader that reads nothing between two comments is disconnected
 * - `rest`: time for which a channel without readers is kept
 */
const PERIODS_MS = { coalesce: 250, stats: 1000, heartbeat: 15_000, rest: 60_000 };

/** Limit of pages of `latest` that are read concurrently, for all readers together. */
const CONCURRENT_READS = 4;

/** @type {Subscription} */
const WHOLE_FLEET = { devices: new Map(), sensors: new Map(), everything: true };

/** Limit of channels that are kept without readers, for readers that reconnect. */
const MAX_RESTING = 100;

/**
 * `GET /stream`: sends server-sent events. A reader gets a snapshot of its subscription, then the changes and the rates of the
 * pipeline. Every reader also gets the changes of all alarms, and requests the alarms again after a reconnect. A reader that
 * reconnects sends `Last-Event-ID` and gets the changes since that event. If its channel has ended, the reader gets a snapshot
 * again. So a reader never misses a newest value.
 *
 * @param {Pick<RouteDeps, 'store' | 'live' | 'stats' | 'groups' | 'resyncMs' | 'clock' | 'logger' | 'metrics'> & Pick<ChannelDeps, 'baselines'> & { limits: { streams: ConcurrencyLimit } }} deps
 * @param {typeof PERIODS_MS} [periods]
 */
export function createStream(deps, periods = PERIODS_MS) {
  const { limits, stats, resyncMs, clock, logger, metrics } = deps;
  const limit = pLimit(CONCURRENT_READS);
  const channels = createChannels(
    { ...deps, limit, periods: { ...periods, resync: resyncMs } },
    periods.rest,
  );
  /** @type {Set<Reader>} */
  const readers = new Set();
  metrics.gauge('iot_http_streams', 'Readers of the live stream', () => readers.size);
  /** @type {NodeJS.Timeout[]} timers that run while there is a reader */
  let timers = [];

  deps.live.onAlarm((alarm) => {
    const frame = Buffer.from(`event: alarm\ndata: ${alarm}\n\n`);
    for (const reader of readers) reader.sendAlarm(frame);
  });

  const statsFrame = () =>
    Buffer.from(`event: stats\ndata: ${JSON.stringify({ ...stats.read(), health: stats.health() })}\n\n`);

  /** @param {Reader} reader */
  function enter(reader) {
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

  /** @param {Reader} reader */
  function leave(reader) {
    readers.delete(reader);
    if (readers.size === 0) for (const timer of timers.splice(0)) clearInterval(timer);
  }

  /** @type {RequestHandler} */
  async function handler(req, res) {
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
     * Reads the newest values of the whole fleet, with their judgment, from the channel that readers of the whole fleet share.
     * If no such channel is open, it opens the channel, which is then kept for a minute.
     *
     * @returns {Promise<JudgedItem[]>}
     * @throws {MillraceError} `unavailable`
     */
    async latest() {
      const { channel, release } = channels.hold(WHOLE_FLEET);
      try {
        await channel.loading;
        return channel.entries().map(({ item }) => item);
      } finally {
        release();
      }
    },

    removeDevice: channels.removeDevice,

    /** @returns {number} the number of readers */
    readers: () => readers.size,
    /** Ends all streams. */
    stop() {
      for (const reader of readers) reader.end();
      channels.stop();
    },
  };
}

/**
 * Ends a stream when the session of its caller expires, because the caller has to sign in again.
 *
 * @param {Response} res
 * @param {Reader} reader
 * @param {number} now epoch ms
 */
function endWithSession(res, reader, now) {
  /** @type {Caller} */
  const { endsAt } = res.locals['caller'];
  return endsAt === null ? undefined : setTimeout(() => reader.end(), endsAt - now);
}

/** Limit of bytes that wait in the connection of a reader. Above it, the reader is too slow, and the next alarm closes its connection. */
const MAX_WAITING_BYTES = 1024 * 1024;

/**
 * Creates the connection to a reader. Unread data waits in the connection: one event, the alarms after it, and the bytes that
 * the socket itself buffers. So a slow reader costs little memory.
 *
 * @param {Response} res response whose headers are sent
 * @param {Writable} [events] receives the events: the response, or a compressor in front of it
 */
export function createReader(res, events = res) {
  let stalled = false;
  const closed = new AbortController();
  res.on('close', () => closed.abort());
  events.on('drain', () => {
    stalled = false;
  });

  const isOpen = () => !closed.signal.aborted && !events.writableEnded;
  const isBehind = () => events.writableNeedDrain;

  return {
    /** Position of the channel up to which the reader has all changes. */
    position: 0,

    /** Whether `send` runs. */
    busy: false,

    isOpen,

    /** Sends an event that a reader may miss, unless earlier events still wait. @param {Buffer} frame */
    sendIfWritable(frame) {
      if (isOpen() && !isBehind()) events.write(frame);
    },

    /**
     * Sends an alarm, also while earlier events wait. The connection of a reader that is too slow is closed. The reader connects
     * again and requests the alarms.
     *
     * @param {Buffer} frame
     */
    sendAlarm(frame) {
      if (!isOpen()) return;
      if (events.writableLength > MAX_WAITING_BYTES) res.destroy();
      else events.write(frame);
    },

    /**
     * Sends events one by one, as fast as the reader takes them.
     *
     * @param {Frames} frames
     * @returns {Promise<void>} settles when all are sent, or the reader has disconnected
     */
    async send({ position, count, frame }) {
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
     * Sends a comment, so that proxies do not close a quiet stream. If the reader has read nothing since the last heartbeat, it
     * is disconnected. The reader then reconnects and continues from its last event.
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

/** @typedef {ReturnType<typeof createReader>} Reader */

/**
 * Returns the channels of a process, by subscription. A channel without readers is kept for a while. So a reader that reconnects
 * continues from its last event.
 *
 * @param {ChannelDeps} deps
 * @param {number} restMs time in ms for which a channel without readers is kept
 */
function createChannels(deps, restMs) {
  /** @typedef {{ channel: Channel, holders: number, rest: NodeJS.Timeout | undefined }} Held */
  /** @type {Map<string, Held>} */
  const channels = new Map();
  /** @type {Map<string, Held>} channels without readers, the longest resting first */
  const resting = new Map();

  /** @param {string} key @param {Held} held */
  function end(key, held) {
    clearTimeout(held.rest);
    held.channel.end();
    resting.delete(key);
    if (channels.get(key) === held) channels.delete(key);
  }

  /** @param {string} key @param {Held} held */
  function release(key, held) {
    if (--held.holders > 0 || channels.get(key) !== held) return;
    resting.set(key, held);
    held.rest = setTimeout(end, restMs, key, held);
    const [oldest] = resting;
    if (resting.size > MAX_RESTING && oldest) end(...oldest);
  }

  /** @param {string} key @param {Subscription} subscription */
  function open(key, subscription) {
    /** @type {Held} */
    const held = { channel: createChannel(subscription, deps), holders: 0, rest: undefined };
    channels.set(key, held);
    // After a failure, end the channel. The next reader then opens a new channel.
    held.channel.loading.catch(() => end(key, held));
    return held;
  }

  return {
    /**
     * Opens a channel or joins the open channel of a subscription.
     *
     * @param {Subscription} subscription
     * @returns {{ channel: Channel, release: () => void }} the caller must call `release` once
     */
    hold(subscription) {
      const key = keyOf(subscription);
      const held = channels.get(key) ?? open(key, subscription);
      held.holders++;
      clearTimeout(held.rest);
      resting.delete(key);
      return { channel: held.channel, release: () => release(key, held) };
    },

    /**
     * Removes a retired device from the snapshots of new readers at once. Without this, the next resync would remove the device
     * within a minute.
     *
     * @param {string} device id
     */
    removeDevice(device) {
      for (const { channel } of channels.values()) channel.removeDevice(device);
    },

    stop() {
      for (const [key, held] of channels) end(key, held);
    },
  };
}

/** @param {Subscription} subscription @returns {string} a key, which is equal for equal subscriptions */
const keyOf = ({ devices, sensors }) =>
  [...[...devices.keys()].sort(), ...[...sensors.keys()].sort()].join(' ');
