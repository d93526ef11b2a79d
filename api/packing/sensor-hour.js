import { MillraceError } from '../../common/errors.js';
import { hourStatisticsOf } from '../../schema/packed/hour-statistics.js';
import { mergeSeries } from '../../schema/packed/series.js';
import { historyRows, isSame } from './history-rows.js';

/** @typedef {import('../../schema/packed/series.js').Series} Series */
/** @typedef {import('../store/history/unpacked.js').StoredSeries} StoredSeries */

/** @typedef {{ device: Buffer, sensor: Buffer, hour: number }} SensorHour `hour` in epoch ms */

/**
 * What is told of packing.
 *
 * @typedef {object} PackingObserver
 * @property {(samples: number) => void} onPacked an hour of a sensor
 * @property {(of: SensorHour, rows: number) => void} onUnreadable rows that this process cannot read
 * @property {(of: SensorHour, error: unknown) => void} onRefused an hour that no repetition packs
 */

/**
 * Packs one hour of one sensor: what was read of its batches and what history has already become one row, then its
 * statistics, in this order: who sees statistics finds all their samples in history.
 *
 * @param {object} parts
 * @param {import('../store/index.js').Store['packing']} parts.store
 * @param {import('./steps.js').Steps} parts.steps
 * @param {PackingObserver} parts.observer
 */
export function createSensorPacker({ store, steps, observer }) {
  /** @param {SensorHour} of @param {Series} whole @param {Series[]} known rows of history */
  async function writeSamples(of, whole, known) {
    // Packed again and nothing new: what a quorum has shown once, every quorum shows.
    if (known.some((row) => isSame(row, whole))) return;
    for (const samples of historyRows(of.hour, whole)) {
      await steps.run(() => store.writeSamples(of, [{ hour: of.hour, samples }]));
    }
  }

  /** @param {SensorHour} of @param {StoredSeries[]} batches @param {number} readFrom epoch ms */
  async function packWhole(of, batches, readFrom) {
    const history = await steps.run(() => store.historyHour(of, of.hour));
    const known = history.filter(isReadable);
    const stored = [...batches.filter(isReadable), ...known];
    const unreadable = batches.length + history.length - stored.length;
    if (unreadable > 0) {
      observer.onUnreadable(of, unreadable);
      // As if it had come late: so nobody takes the statistics for all there is, and the second pass tries again.
      await steps.run(() => store.writeLate(of, [of.hour], readFrom));
    }
    const whole = mergeSeries(stored);
    if (whole.times.length === 0) return;
    await writeSamples(of, whole, known);
    // With statistics, history would be taken for all there is. Without, the batches are read as well, by who can read them.
    if (batches.includes(null)) return;
    const statistics = hourStatisticsOf(whole.values);
    await steps.run(() => store.writeStatistics(of, of.hour, statistics, readFrom));
    observer.onPacked(whole.times.length);
  }

  return {
    /**
     * What cannot be packed stops its group, and is tried again with every look: nothing is lost as long as there are
     * batches, and all of it is made up for when somebody has mended the reason. To go on without it would lose it.
     *
     * @param {SensorHour} of
     * @param {StoredSeries[]} batches read since `readFrom`
     * @param {number} readFrom epoch ms
     * @returns {Promise<void>} settles when all that can be read is committed
     * @throws {MillraceError} `unavailable` when packing ends; `rejected`; and whatever is a defect
     */
    async pack(of, batches, readFrom) {
      try {
        await packWhole(of, batches, readFrom);
      } catch (error) {
        const ends = error instanceof MillraceError && error.code === 'unavailable';
        if (!ends) observer.onRefused(of, error);
        throw error;
      }
    },
  };
}

/** @typedef {ReturnType<typeof createSensorPacker>} SensorPacker */

/** @param {StoredSeries} series @returns {series is Series} */
const isReadable = (series) => series !== null;
