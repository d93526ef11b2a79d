import { randomBytes } from 'node:crypto';
import { groupOf } from '../../../schema/ids.js';
import { EVERY_DEVICE } from '../../live/messages.js';
import { latestItem } from '../items.js';
import { createDelta, createSnapshot, readEventId } from './frames.js';
import { createKnown, createReadings } from './latest-cache.js';
import { follows } from './subscription.js';

/** @import { LimitFunction } from 'p-limit' */
/** @import { Logger } from 'pino' */
/** @import { Live } from '../../live/index.js' */
/** @import { Listener } from '../../live/local-transport.js' */
/** @import { Metrics } from '../../observability/metrics.js' */
/** @import { Fleet } from '../../store/devices/index.js' */
/** @import { LatestRow } from '../../store/devices/latest-rows.js' */
/** @import { Store } from '../../store/index.js' */
/** @import { Frames } from './frames.js' */
/** @import { Reader } from './index.js' */
/** @import { Subscription } from './subscription.js' */

/**
 * What all channels of a process have in common.
 *
 * @typedef {object} ChannelParts
 * @property {Pick<Store, 'fleet'>} store
 * @property {Live} live
 * @property {number} groups
 * @property {LimitFunction} limit of readings of the database
 * @property {{ coalesce: number, heal: number }} periods ms
 * @property {() => number} clock epoch ms
 * @property {Logger} logger
 * @property {Metrics} metrics
 */

/**
 * What readers of the same things share: the newest values, kept by what is published and read again in case some of
 * that was lost; and the events that tell of them.
 *
 * @param {Subscription} subscription
 * @param {ChannelParts} parts
 */
export function createChannel(subscription, { store, live, groups, limit, periods, clock, logger, metrics }) {
  const id = randomBytes(8).toString('hex');
  const known = createKnown();
  /** @type {Set<Reader>} */
  const readers = new Set();
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  let toldAt = Number.NEGATIVE_INFINITY;
  /** @type {Frames | undefined} the last one, for those who come at the same time */
  let snapshot;
  let open = true;
  let loaded = false;
  let readingSince = 0;
  /** @type {Array<() => void>} */
  const endings = [];

  /** A change of a quiet channel is told at once, others when the interval since then is over. */
  function tellSoon() {
    if (!open) return;
    timer ??= setTimeout(tellAll, Math.max(0, toldAt + periods.coalesce - performance.now()));
  }

  function tellAll() {
    timer = undefined;
    toldAt = performance.now();
    const { position } = known;
    /** @type {Map<number, Frames>} by where readers stand; nearly all of them stand at one place */
    const deltas = new Map();
    for (const reader of readers) {
      if (reader.busy || reader.position === position) continue;
      const delta =
        deltas.get(reader.position) ??
        createDelta(known.since(reader.position), { channel: id, position }, clock);
      deltas.set(reader.position, delta);
      void tell(reader, delta);
    }
    known.settle();
  }

  /** @param {Reader} reader @param {Frames} frames */
  async function tell(reader, frames) {
    await reader.tell(frames);
    if (reader.isOpen() && reader.position < known.position) tellSoon();
  }

  /** @type {Listener} */
  function hear(items, committedAt) {
    for (const item of items) if (follows(subscription, item) && known.hear(item, committedAt)) tellSoon();
  }

  const readings = createReadings({
    pages: () => snapshotOf(store.fleet, groups, subscription),
    take: (read) =>
      limit(async () => {
        const since = known.position;
        const rows = await read();
        if (!open || rows === null) return false;
        let news = 0;
        for (const row of rows) if (known.read(latestItem(row), since)) news++;
        if (!loaded || news === 0) return true;
        metrics.healed.inc(news);
        tellSoon();
        return true;
      }),
    begin() {
      readingSince = known.position;
      known.begin();
    },
    end: () => known.end(readingSince),
    everyMs: periods.heal,
    logger,
  });

  /** Listens before it reads, so that nothing falls between the two. */
  async function load() {
    const devices = subscription.everything
      ? [EVERY_DEVICE]
      : [...new Set([...subscription.devices.keys(), ...[...subscription.sensors.values()].map(deviceOf)])];
    endings.push(live.onMissed(readings.hurry), await live.listen(devices, hear));
    if (!open) return end();
    await readings.start();
    loaded = true;
  }

  function end() {
    open = false;
    clearTimeout(timer);
    readings.stop();
    for (const ending of endings.splice(0)) ending();
  }

  const loading = load();
  loading.catch(end);

  function snapshotNow() {
    const { position } = known;
    if (snapshot?.position !== position) {
      snapshot = createSnapshot(known.all(), { channel: id, position });
    }
    return snapshot;
  }

  return {
    /** Settles when it can tell; fails when what it follows could not be read. */
    loading,

    /**
     * Tells a reader where it left off, else a snapshot, then every change.
     *
     * @param {Reader} reader
     * @param {string} lastId of the last event that it got, if any
     */
    join(reader, lastId) {
      const left = readEventId(lastId);
      readers.add(reader);
      if (left?.channel === id && left.position <= known.position) {
        reader.position = left.position;
        if (left.position < known.position) tellSoon();
      } else void tell(reader, snapshotNow());
    },

    /** @param {Reader} reader */
    leave: (reader) => readers.delete(reader),

    end,
  };
}

/** @typedef {ReturnType<typeof createChannel>} Channel */

/** @param {{ device: { id: string } }} named */
const deviceOf = ({ device }) => device.id;

/** Items of one snapshot event. */
const PAGE = 1000;

/**
 * The latest values of everything that a reader follows, in pages.
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
