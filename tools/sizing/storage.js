import { HOUR_MS, messageWeight, SAMPLE_ROW_BYTES, windowFor } from '../../schema/rules.js';
import { historyRowBytes, ROW_BYTES, tablesOf } from '../../schema/sizes.js';
import { RULES } from './rules.js';

/** @import { Figures } from '../bench/documents.js' */
/** @import { Way } from './costs.js' */
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
  const { batches, history, statistics, rows } = disk[signal];
  const share = (/** @type {number | undefined} */ measured, /** @type {number} */ calculated) =>
    measured === undefined ? 1 : measured / calculated;
  return {
    batches: share(batches, messageWeight({ sensors: 1, samples: BENCH.samples }).bytes / BENCH.samples),
    history: share(history, historyRowBytes(BENCH.intervalMs) / BENCH_HOUR),
    statistics: share(statistics, ROW_BYTES.historyStat / BENCH_HOUR),
    rows: share(rows, SAMPLE_ROW_BYTES),
  };
}

/**
 * Bytes on disk of one copy just before the oldest window goes, by table, and partitions in all. A window stays until the
 * last of its rows has expired, so that there is as much as of the retention and one window more.
 *
 * @param {Fleet} fleet
 * @param {Way} way rows are kept as long as history: the same samples can be read
 * @param {ReturnType<typeof compressionOf>} compression
 * @returns {{ bytes: Record<string, number>, partitions: number }}
 */
export function storedBy(fleet, way, compression) {
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
  if (way === 'rows') {
    const days = fleet.historyDays * ofHistory;
    const samples = (fleet.sensors * days * 86_400_000) / fleet.intervalMs;
    return {
      bytes: { measurement_row: samples * SAMPLE_ROW_BYTES * compression.rows, ...always },
      partitions: fleet.sensors * days + registry,
    };
  }
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
 * @param {Way} way
 * @returns {{ windows: Record<string, { days: number, count: number }>, sstables: number }}
 */
export function windowsOf({ batchDays, historyDays }, way) {
  const of = (/** @type {number} */ days) => {
    const { windowDays } = windowFor(days);
    return { days: windowDays, count: Math.ceil(days / windowDays) + 1 };
  };
  /** @type {Record<string, { days: number, count: number }>} */
  const windows =
    way === 'rows'
      ? { measurement_row: of(historyDays) }
      : { message: of(batchDays), history: of(historyDays), history_stat: of(historyDays) };
  const closed = Object.values(windows).map(({ count }) => count - 1);
  const sstables = closed.reduce((sum, count) => sum + count + RULES.openTables.value, 0);
  return { windows, sstables };
}
