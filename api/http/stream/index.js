import { once } from 'node:events';
import pLimit from 'p-limit';
import { createChannel } from './channel.js';
import { readSubscription } from './subscription.js';

/** @import { Caller } from '../../access/http/index.js' */
/** @import { Channel, ChannelParts } from './channel.js' */
/** @import { Frames } from './frames.js' */
/** @import { Places } from '../long-requests.js' */
/** @import { RequestHandler, Response } from 'express' */
/** @import { RouteParts } from '../api.js' */
/** @import { Subscription } from './subscription.js' */

/**
 * - `coalesce`: changes of one sensor within this time become one
 * - `stats`: what the pipeline does is told this often
 * - `heartbeat`: a quiet stream carries a comment this often; who reads nothing between two of them is dropped
 * - `rest`: who comes back within this time goes on where it was
 */
const PERIODS_MS = { coalesce: 250, stats: 1000, heartbeat: 15_000, rest: 60_000 };

/** Pages of `latest` that are read at once, for all readers together. */
const READINGS_AT_ONCE = 4;

/**
 * `GET /stream`: server-sent events. A snapshot of what the reader follows, then its changes, and what the pipeline
 * does. A reader that was here before, and says by Last-Event-ID how far it got, is told what has changed since; where
 * that is not known any more, it gets a snapshot again. So there is never a gap.
 *
 * @param {Pick<RouteParts, 'store' | 'live' | 'stats' | 'groups' | 'healMs' | 'clock' | 'logger' | 'metrics'> & { places: { streams: Places } }} parts
 * @param {typeof PERIODS_MS} [periods]
 */
export function createStream(parts, periods = PERIODS_MS) {
  const { places, stats, healMs, clock, logger, metrics } = parts;
  const limit = pLimit(READINGS_AT_ONCE);
  const channels = createChannels({ ...parts, limit, periods: { ...periods, heal: healMs } }, periods.rest);
  /** @type {Set<Reader>} */
  const readers = new Set();
  metrics.gauge('iot_http_streams', 'Readers that follow live values', () => readers.size);
  /** @type {NodeJS.Timeout[]} run while anybody reads */
  let timers = [];

  const statsFrame = () => Buffer.from(`event: stats\ndata: ${JSON.stringify(stats.read())}\n\n`);

  /** @param {Reader} reader */
  function enter(reader) {
    readers.add(reader);
    if (readers.size > 1) return;
    const sendStats = () => {
      const frame = statsFrame();
      for (const each of readers) each.mention(frame);
    };
    const beat = () => {
      for (const each of readers) each.beat();
    };
    timers = [setInterval(sendStats, periods.stats), setInterval(beat, periods.heartbeat)];
  }

  /** @param {Reader} reader */
  function leave(reader) {
    readers.delete(reader);
    if (readers.size === 0) for (const timer of timers.splice(0)) clearInterval(timer);
  }

  /** @type {RequestHandler} */
  async function handler(req, res) {
    const subscription = readSubscription(req.url);
    const leavePlace = places.streams.take();
    res.once('close', leavePlace);
    res.set({ 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
    if (req.method === 'HEAD') return void res.end();
    res.flushHeaders();

    const reader = createReader(res);
    const { channel, release } = channels.hold(subscription);
    enter(reader);
    const sessionEnd = endWith(res, reader, clock());
    res.on('close', () => {
      clearTimeout(sessionEnd);
      leave(reader);
      channel.leave(reader);
      release();
    });
    reader.mention(statsFrame());
    try {
      await channel.loading;
      if (reader.isOpen()) channel.join(reader, req.get('Last-Event-ID') ?? '');
    } catch (error) {
      // The reader's EventSource comes back by itself and asks for the snapshot again.
      logger.warn({ reason: String(error) }, 'a snapshot could not be read; the reader will ask again');
      reader.end();
    }
  }

  return {
    handler,
    /** How many follow. */
    readers: () => readers.size,
    /** Ends all streams. */
    stop() {
      for (const reader of readers) reader.end();
      channels.stop();
    },
  };
}

/**
 * A session ends for what is open, too: who comes back has to show that he may.
 *
 * @param {Response} res
 * @param {Reader} reader
 * @param {number} now epoch ms
 */
function endWith(res, reader, now) {
  /** @type {Caller} */
  const { endsAt } = res.locals['caller'];
  return endsAt === null ? undefined : setTimeout(() => reader.end(), endsAt - now);
}

/**
 * One reader's end of a stream. What it has not read yet waits in the connection, no more than one event and what the
 * connection itself takes, so that a slow reader costs no memory.
 *
 * @param {Response} res its headers are sent
 */
export function createReader(res) {
  let stalled = false;
  const gone = new AbortController();
  res.on('close', () => gone.abort());
  res.on('drain', () => {
    stalled = false;
  });

  const isOpen = () => !gone.signal.aborted && !res.writableEnded;
  const isBehind = () => res.writableNeedDrain;

  return {
    /** Told is all up to this position of its channel. */
    position: 0,

    /** Whether it is being told something. */
    busy: false,

    isOpen,

    /** Tells something that it may miss, unless it has not yet read what was sent before. @param {Buffer} frame */
    mention(frame) {
      if (isOpen() && !isBehind()) res.write(frame);
    },

    /**
     * Tells one event after the other, as fast as it reads them.
     *
     * @param {Frames} frames
     * @returns {Promise<void>} settles when all is told, or it has gone
     */
    async tell({ position, count, frame }) {
      this.busy = true;
      for (let at = 0; at < count; at++) {
        // The only failure is that it has gone.
        if (isOpen() && isBehind()) await once(res, 'drain', { signal: gone.signal }).catch(() => {});
        if (!isOpen()) return;
        res.write(frame(at));
      }
      this.position = position;
      this.busy = false;
    },

    /**
     * A comment, so that proxies do not close a quiet stream. Who is behind and has read nothing since the last one is
     * dropped: it comes back, and goes on from where it was.
     */
    beat() {
      if (!isOpen()) return;
      if (!isBehind()) res.write(':\n\n');
      else if (stalled) res.destroy();
      else stalled = true;
    },

    end: () => res.end(),
  };
}

/** @typedef {ReturnType<typeof createReader>} Reader */

/** Channels that nobody reads, kept for those who come back. */
const MOST_RESTING = 100;

/**
 * The channels of a process, by what they follow. One that its last reader has left is kept for a while: a reader who
 * comes back goes on where it was.
 *
 * @param {ChannelParts} parts
 * @param {number} restMs
 */
function createChannels(parts, restMs) {
  /** @typedef {{ channel: Channel, held: number, rest: NodeJS.Timeout | undefined }} Place */
  /** @type {Map<string, Place>} */
  const places = new Map();
  /** @type {Map<string, Place>} the longest resting first */
  const resting = new Map();

  /** @param {string} key @param {Place} place */
  function end(key, place) {
    clearTimeout(place.rest);
    place.channel.end();
    resting.delete(key);
    if (places.get(key) === place) places.delete(key);
  }

  /** @param {string} key @param {Place} place */
  function release(key, place) {
    if (--place.held > 0 || places.get(key) !== place) return;
    resting.set(key, place);
    place.rest = setTimeout(end, restMs, key, place);
    const [oldest] = resting;
    if (resting.size > MOST_RESTING && oldest) end(...oldest);
  }

  /** @param {string} key @param {Subscription} subscription */
  function open(key, subscription) {
    /** @type {Place} */
    const place = { channel: createChannel(subscription, parts), held: 0, rest: undefined };
    places.set(key, place);
    // Who comes next tries anew.
    place.channel.loading.catch(() => end(key, place));
    return place;
  }

  return {
    /**
     * @param {Subscription} subscription
     * @returns {{ channel: Channel, release: () => void }} to be released once
     */
    hold(subscription) {
      const key = keyOf(subscription);
      const place = places.get(key) ?? open(key, subscription);
      place.held++;
      clearTimeout(place.rest);
      resting.delete(key);
      return { channel: place.channel, release: () => release(key, place) };
    },

    stop() {
      for (const [key, place] of places) end(key, place);
    },
  };
}

/** @param {Subscription} subscription @returns {string} the same for all that follow the same */
const keyOf = ({ devices, sensors }) =>
  [...[...devices.keys()].sort(), ...[...sensors.keys()].sort()].join(' ');
