import { performance } from 'node:perf_hooks';
import { readAligned } from './aligned.js';
import { chunksOf, createLookUp } from './hours.js';
import { readPage } from './pages.js';
import { readAhead, readHours } from './samples.js';
import { readSeries } from './series.js';

export { addGroups } from './aligned.js';
export { binsOf, calendarGrid, isZone, mostCalendarBins, NO_BINS, uniformGrid, wholeGrid } from './grid.js';
export { unpackedHours } from './hours.js';

/** @import { Series } from '../../../schema/packed/series.js' */
/** @import { Store } from '../../store/index.js' */
/** @import { AlignedSensor } from './aligned.js' */
/** @import { Hour, Order, Range, Sensor } from './hours.js' */

/**
 * Creates the reads of samples from history and from the table `message` ("batches"). Callers do not see in which table a sample is.
 * `hours.js` has the rules.
 *
 * @param {Pick<Store, 'samples' | 'packed' | 'scans' | 'packProgress'>} store
 */
export function createReading(store) {
  const packedUntil = rememberPackedUntil(store.packProgress);
  const lookUp = createLookUp({ packedUntil, readStatistics: store.packed.readStatistics });
  return {
    /**
     * Finds the hours of a range that may have samples, with exact statistics if they are known.
     *
     * @param {Sensor} sensor
     * @param {Range} range
     * @param {Order} order
     * @param {number} length length of the first part of the range that is read, in ms
     */
    hours: (sensor, range, order, length) => chunksOf(lookUp, sensor, range, order, length),

    /**
     * @param {Sensor} sensor
     * @param {Hour[]} hours
     * @param {number} [since] epoch ms: samples before it may be left out
     * @returns {Promise<Series[]>} one sorted series for each hour
     */
    samplesOf: (sensor, hours, since) => readHours(store, sensor, hours, since),

    /**
     * @param {Sensor} sensor
     * @param {Range} range within retention
     * @param {{ order: Order, limit: number }} page
     */
    page: (sensor, range, page) => readPage({ lookUp, source: store }, sensor, range, page),

    /**
     * Reads all samples of the hours that a range touches. Only the results of a few reads are in memory.
     *
     * @param {Sensor} sensor
     * @param {Range} range within retention
     * @param {Order} order order of the hours; the samples of an hour are always in order of time
     * @param {AbortSignal} signal aborts when the client disconnects
     */
    all: (sensor, range, order, signal) =>
      readAhead(store.scans, sensor, chunksOf(lookUp, sensor, range, order), signal),

    /**
     * @param {Sensor} sensor
     * @param {Range} range within retention
     * @param {Parameters<typeof readSeries>[3]} options
     */
    series: (sensor, range, options) => readSeries({ lookUp, source: store }, sensor, range, options),

    /**
     * @template {AlignedSensor} T
     * @param {T[]} sensors
     * @param {Range} range within retention, not empty
     * @param {Parameters<typeof readAligned>[3]} options
     */
    aligned: (sensors, range, options) => readAligned({ lookUp, source: store }, sensors, range, options),
  };
}

/** @typedef {ReturnType<typeof createReading>} Reading */

/**
 * Time in ms for which the cached progress of packing is used. Outdated progress causes no wrong answer, but more hours
 * than necessary are read from both history and `message`.
 */
const KEPT_MS = 5000;

/**
 * Caches the packing progress of groups for all readers.
 *
 * @param {Pick<Store['packProgress'], 'read'>} store
 * @returns {(group: number) => Promise<number>} returns the epoch ms before which every hour is packed, or has only late
 *   samples
 */
function rememberPackedUntil(store) {
  /** @type {Map<number, { at: number, packedUntil: Promise<number> }>} */
  const groups = new Map();
  return (group) => {
    const now = performance.now();
    const known = groups.get(group);
    if (known && now - known.at < KEPT_MS) return known.packedUntil;
    const packedUntil = store.read(group).then((progress) => progress.packedUntil);
    const entry = { at: now, packedUntil };
    groups.set(group, entry);
    packedUntil.catch(() => {
      if (groups.get(group) === entry) groups.delete(group);
    });
    return packedUntil;
  };
}
