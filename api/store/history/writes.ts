import { digestOf } from '../../../schema/packed/pack.js';
import { float64, int32, int64 } from '../cql-encoding.js';
import { createDayStatistics } from './days.js';
import { dayKey, yearKey } from './keys.js';

/** @import { HourStatistics } from '../../../schema/packed/statistics.js' */
/** @import { Session } from '../sending/session.js' */
/** @import { SensorBytes } from './keys.js' */

/**
 * Samples of one hour, packed.
 *
 * @typedef {{ hour: number, samples: Buffer }} PackedHour `hour`: epoch ms of its start
 */

const INSERT_SAMPLES =
  'INSERT INTO history (device_id, sensor_id, day, hour, digest, samples) VALUES (?, ?, ?, ?, ?, ?)';
const INSERT_STATISTICS = {
  name: 'write_statistics',
  cql: 'INSERT INTO history_stat (device_id, sensor_id, year, hour, count, min, max, sum, first, last, read_from) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?',
};
const INSERT_LATE =
  'INSERT INTO history_stat (device_id, sensor_id, year, hour, late_at) VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?';

/**
 * Creates the writes of history. Invariant: rows are only added. So no write removes samples that a packer or a late
 * message has written.
 *
 * @param {Session} session
 */
export function createHistoryWrites(session) {
  const days = createDayStatistics(session);
  return {
    /**
     * @param {SensorBytes} key
     * @param {PackedHour[]} hours hours of one UTC day
     * @returns {Promise<unknown>} settles when the hours are committed
     */
    writeSamples: (key, hours) =>
      session.writeBatch(
        'write_history',
        hours.map(({ hour, samples }) => ({
          query: INSERT_SAMPLES,
          params: [...dayKey(key, hour), int64(hour), digestOf(samples), samples],
        })),
      ),

    /**
     * @param {SensorBytes} key
     * @param {number} hour epoch ms
     * @param {HourStatistics} statistics statistics of all samples of the hour in history
     * @param {number} readFrom epoch ms at which the read of the samples began; of two writes, the later read wins
     */
    writeStatistics: (key, hour, { count, min, max, sum, first, last }, readFrom) =>
      session.write(INSERT_STATISTICS, [
        ...yearKey(key, hour),
        int64(hour),
        int32(count),
        ...[min, max, sum, first, last].map(float64),
        int64(readFrom * 1000),
        int64(readFrom * 1000),
      ]),

    /**
     * Marks hours that got late samples, so that readers do not trust their statistics and the packer packs them again.
     *
     * @param {SensorBytes} key
     * @param {number[]} hours hours that got late samples, in epoch ms, all of one UTC year
     * @param {number} lateAt epoch ms at which the samples arrived
     * @returns {Promise<unknown>} settles when the marks are committed to `history_stat` and `day_stat`
     */
    writeLate: (key, hours, lateAt) =>
      Promise.all([
        days.writeLate(key, hours, lateAt),
        session.writeBatch(
          'write_late',
          hours.map((hour) => ({
            query: INSERT_LATE,
            params: [...yearKey(key, hour), int64(hour), int64(lateAt * 1000), int64(lateAt * 1000)],
          })),
        ),
      ]),

    /** Copies the statistics of a day to `day_stat`: see `write` in days.js. */
    writeDay: days.write,
  };
}

/** @typedef {ReturnType<typeof createHistoryWrites>} HistoryWrites */
