import { HOUR_MS, messageWeight, windowFor } from '../../schema/rules.js';
import { historyRowBytes, ROW_BYTES, tablesOf } from '../../schema/sizes.js';
import { RULES } from './rules.js';

/** @import { Figures } from '../bench/documents.js' */
/** @import { Fleet } from './traffic.js' */

/** @typedef {'decimals' | 'full'} Signal */

/** The bench's sensors on disk: a sample a second, and a message a minute. */
const BENCH = { intervalMs: 1000, samples: 60 };
const BENCH_HOUR = HOUR_MS / BENCH.intervalMs;

/**
 * The bytes on disk in the bench, as a share of those of schema/sizes.js, which are without compression. 1 where it was not
 * measured.
 *
 * @param {Figures['disk']} disk
 * @param {Signal} signal
 */
export function compressionOf(disk, signal) {
  const { batches, history, statistics } = disk[signal];
  const share = (/** @type {number | undefined} */ measured, /** @type {number} */ calculated) =>
    measured === undefined ? 1 : measured / calculated;
  return {
    batches: share(batches, messageWeight({ sensors: 1, samples: BENCH.samples }).bytes / BENCH.samples),
    history: share(history, historyRowBytes(BENCH.intervalMs) / BENCH_HOUR),
    statistics: share(statistics, ROW_BYTES.historyStat / BENCH_HOUR),
  };
}

/**
 * Bytes on disk of one copy just before the oldest window goes, by table, and partitions in all. A window stays until the
 * last of its rows has expired, so that there is as much as of the retention and one window more.
 *
 * @param {Fleet} fleet
 * @param {ReturnType<typeof compressionOf>} compression
 * @returns {{ bytes: Record<string, number>, partitions: number }}
 */
export function storedBy(fleet, compression) {
  const tables = tablesOf(fleet);
  const always = {
    latest: tables.latest.bytes,
    registry: tables.sensor.bytes + tables.device.bytes + tables.indexes.bytes,
  };
  const registry =
    tables.sensor.partitions +
    tables.latest.partitions +
    tables.device.partitions +
    tables.indexes.partitions;
  const ofHistory = stayOf(fleet.historyDays);
  const { message, history, history_stat } = tables;
  const ofBatches = stayOf(fleet.batchDays);
  return {
    bytes: {
      message: message.bytes * ofBatches * compression.batches,
      history: history.bytes * ofHistory * compression.history,
      history_stat: history_stat.bytes * ofHistory * compression.statistics,
      ...always,
    },
    partitions:
      message.partitions * ofBatches + history.partitions * ofHistory + history_stat.partitions + registry,
  };
}

/** @param {number} days of retention @returns {number} how much longer than these the oldest row stays on disk, as a factor */
const stayOf = (days) => (days + windowFor(days).windowDays) / days;

/**
 * Time windows of each table while the oldest has not gone yet, the one that is written among them, and SSTables that they leave
 * on each shard.
 *
 * @param {Fleet} fleet
 * @returns {{ windows: Record<string, { days: number, count: number }>, sstables: number }}
 */
export function windowsOf({ batchDays, historyDays }) {
  const of = (/** @type {number} */ days) => {
    const { windowDays } = windowFor(days);
    return { days: windowDays, count: Math.ceil(days / windowDays) + 1 };
  };
  /** @type {Record<string, { days: number, count: number }>} */
  const windows = { message: of(batchDays), history: of(historyDays), history_stat: of(historyDays) };
  const closed = Object.values(windows).map(({ count }) => count - 1);
  const sstables = closed.reduce((sum, count) => sum + count + RULES.openTables.value, 0);
  return { windows, sstables };
}
