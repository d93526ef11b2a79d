import { randomBytes } from 'node:crypto';
import { groupOf } from '../../../schema/ids.js';
import { EVERY_DEVICE } from '../../live/index.js';
import { latestItem } from '../items.js';
import { createDelta, createSnapshot, readEventId } from './frames.js';
import { createResync, LatestCache } from './latest-cache.js';
import { follows } from './subscription.js';

/** @import { LimitFunction } from 'p-limit' */
/** @import { Logger } from 'pino' */
/** @import { RouteDeps } from '../api.js' */
/** @import { Live } from '../../live/index.js' */
/** @import { Listener } from '../../live/hub.js' */
/** @import { Metrics } from '../../observability/metrics.js' */
/** @import { Fleet } from '../../store/devices/index.js' */
/** @import { LatestRow } from '../../store/devices/latest-rows.js' */
/** @import { Store } from '../../store/index.js' */
/** @import { Entry } from './latest-cache.js' */
/** @import { Frames } from './frames.js' */
/** @import { Reader } from './index.js' */
/** @import { Subscription } from './subscription.js' */

/**
 * The context of all channels of a process.
 *
 * @typedef {object} ChannelDeps
 * @property {Pick<Store, 'fleet'>} store
 * @property {Live} live
 * @property {Pick<RouteDeps['baselines'], 'judge' | 'onChange'>} baselines judge how unusual each value is
 * @property {number} groups
 * @property {LimitFunction} limit limits concurrent reads of the database
 * @property {{ coalesce: number, resync: number }} periods ms
 * @property {() => number} clock epoch ms
 * @property {Logger} logger
 * @property {Metrics} metrics
 */

/**
 * Creates a channel. A channel is the shared state of all stream clients (readers) with the same subscription: the cache of
 * their newest values, and the events that carry the changes of the cache.
 *
 * @param {Subscription} subscription
 * @param {ChannelDeps} deps
 */
export function createChannel(subscription, deps) {
  const { store, live, baselines, groups, limit, periods, clock, logger, metrics } = deps;
  const id = randomBytes(8).toString('hex');
  const cache = new LatestCache((key, item) => baselines.judge(key, item));
  /** @type {Set<Reader>} */
  const readers = new Set();
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  let sentAt = Number.NEGATIVE_INFINITY;
  /** @type {Frames | undefined} the newest snapshot, shared by readers that join at the same time */
  let snapshot;
  let open = true;
  let loaded = false;
  let resyncPosition = 0;
  /** @type {Array<() => void>} */
  const cleanUps = [];

  /** Sends the first change of a quiet channel at once. Later changes wait until `periods.coalesce` is over. */
  function sendSoon() {
    if (!open) return;
    timer ??= setTimeout(sendAll, Math.max(0, sentAt + periods.coalesce - performance.now()));
  }

  function sendAll() {
    timer = undefined;
    sentAt = performance.now();
    const { position } = cache;
    /** @type {Map<number, Frames>} changes by the position of readers; nearly all readers have the same position */
    const deltas = new Map();
    for (const reader of readers) {
      if (reader.busy || reader.position === position) continue;
      const delta =
        deltas.get(reader.position) ??
        createDelta(cache.since(reader.position), { channel: id, position }, clock);
      deltas.set(reader.position, delta);
      void send(reader, delta);
    }
    cache.markSent();
  }

  /** @param {Reader} reader @param {Frames} frames */
  async function send(reader, frames) {
    await reader.send(frames);
    if (reader.isOpen() && reader.position < cache.position) sendSoon();
  }

  /** @type {Listener} */
  function onItems(items, committedAt) {
    for (const item of items) if (follows(subscription, item) && cache.update(item, committedAt)) sendSoon();
  }

  function judgeAgain() {
    if (cache.judgeAgain()) sendSoon();
  }

  const resync = createResync({
    pages: () => snapshotOf(store.fleet, groups, subscription),
    takePage: (read) =>
      limit(async () => {
        const since = cache.position;
        const rows = await read();
        if (!open || rows === null) return false;
        let changes = 0;
        for (const row of rows) if (cache.refresh(latestItem(row), since)) changes++;
        if (!loaded || cache.position === since) return true;
        metrics.resynced.inc(changes);
        sendSoon();
        return true;
      }),
    begin() {
      resyncPosition = cache.position;
      cache.beginResync();
    },
    end: () => cache.endResync(resyncPosition),
    everyMs: periods.resync,
    logger,
  });

  /** Subscribes to changes, then reads all values. In this order no change between the two steps is lost. */
  async function load() {
    const devices = subscription.everything
      ? [EVERY_DEVICE]
      : [...new Set([...subscription.devices.keys(), ...[...subscription.sensors.values()].map(deviceOf)])];
    cleanUps.push(baselines.onChange(judgeAgain), live.onMissed(resync.refreshNow));
    cleanUps.push(await live.listen(devices, onItems));
    if (!open) return end();
    await resync.start();
    loaded = true;
  }

  function end() {
    open = false;
    clearTimeout(timer);
    resync.stop();
    for (const cleanUp of cleanUps.splice(0)) cleanUp();
  }

  const loading = load();
  loading.catch(end);

  function currentSnapshot() {
    const { position } = cache;
    if (snapshot?.position !== position) {
      snapshot = createSnapshot(cache.all(), { channel: id, position });
    }
    return snapshot;
  }

  return {
    /** Settles when the cache is loaded; rejects if that fails. */
    loading,

    /**
     * Sends a reader the changes since its last event, or a snapshot if that event is unknown. After that, the reader gets every
     * change.
     *
     * @param {Reader} reader
     * @param {string} lastId id of the last event that the reader got; empty: none
     */
    join(reader, lastId) {
      const last = readEventId(lastId);
      readers.add(reader);
      if (last?.channel === id && last.position <= cache.position) {
        reader.position = last.position;
        if (last.position < cache.position) sendSoon();
      } else void send(reader, currentSnapshot());
    },

    /** @returns {Entry[]} entries of all sensors that the channel follows */
    entries: () => cache.all(),

    /** Removes a device that was retired, so that new readers do not get it any more. @param {string} device id */
    removeDevice: (device) => cache.removeDevice(device),

    /** @param {Reader} reader */
    leave: (reader) => readers.delete(reader),

    end,
  };
}

/** @typedef {ReturnType<typeof createChannel>} Channel */

/** @param {{ device: { id: string } }} sensor */
const deviceOf = ({ device }) => device.id;

/** Number of items in a page that is read from the table `latest`. */
const PAGE = 1000;

/**
 * Reads the latest values of a subscription, in pages.
 *
 * @param {Fleet} fleet
 * @param {number} groups
 * @param {Subscription} subscription
 * @returns {AsyncGenerator<LatestRow[]>}
 */
export async function* snapshotOf(fleet, groups, { everything, devices, sensors }) {
  if (everything) yield* wholeFleet(fleet);
  for (const { bytes } of devices.values()) {
    yield await fleet.latestOfDevice({ group: groupOf(bytes, groups), bytes });
  }
  /** @type {Map<number, Array<{ device: Buffer, sensor: Buffer }>>} */
  const byGroup = new Map();
  for (const { device, sensor } of sensors.values()) {
    const group = groupOf(device.bytes, groups);
    const keys = byGroup.get(group) ?? [];
    byGroup.set(group, keys);
    keys.push({ device: device.bytes, sensor: sensor.bytes });
  }
  for (const [group, keys] of byGroup) yield await fleet.latestOfSensors(group, keys);
}

/** @param {Fleet} fleet */
async function* wholeFleet(fleet) {
  let after = null;
  do {
    /** @type {Awaited<ReturnType<typeof fleet.latestPage>>} */
    const page = await fleet.latestPage({ filter: {}, after, limit: PAGE });
    yield page.rows;
    after = page.next;
  } while (after);
}
