import { randomBytes } from 'node:crypto';
import { EVERY_DEVICE } from '../../live/topics.js';
import { latestItem } from '../items.js';
import { createDelta, createSnapshot, readEventId } from './frames.js';
import { createKnown } from './known.js';
import { createReadings } from './readings.js';
import { snapshotOf } from './snapshot.js';
import { follows } from './subscription.js';

/** @typedef {import('./reader.js').Reader} Reader */
/** @typedef {import('./frames.js').Frames} Frames */

/**
 * What all channels of a process have in common.
 *
 * @typedef {object} ChannelParts
 * @property {Pick<import('../../store/index.js').Store, 'fleet'>} store
 * @property {import('../../live/index.js').Live} live
 * @property {number} groups
 * @property {import('p-limit').LimitFunction} limit of readings of the database
 * @property {{ coalesce: number, heal: number }} periods ms
 * @property {() => number} clock epoch ms
 * @property {import('pino').Logger} logger
 * @property {import('../../metrics.js').Metrics} metrics
 */

/**
 * What readers of the same things share: the newest values, kept by what is published and read again in case some of
 * that was lost; and the events that tell of them.
 *
 * @param {import('./subscription.js').Subscription} subscription
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

  /** @type {import('../../live/audience.js').Listener} */
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
