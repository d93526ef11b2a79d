import { unpackSamples } from '../../../schema/packed/unpack.js';
import { dayOf, HOUR_MS, yearOf } from '../../../schema/rules.js';
import { int32, int64 } from '../cql-encoding.js';

/** @import { HourStatistics } from '../../../schema/packed/statistics.js' */
/** @import { Series } from '../../../schema/packed/series.js' */
/** @import { Row, Session } from '../session.js' */

/**
 * One hour of a sensor in `history_stat`. `statistics` is null until the hour is packed.
 *
 * @typedef {object} HourRow
 * @property {number} hour epoch ms
 * @property {HourStatistics | null} statistics
 * @property {number | null} readFrom epoch ms
 * @property {number | null} lateAt epoch ms
 */

const SELECT_SAMPLES = {
  name: 'read_history',
  cql: 'SELECT hour, samples FROM history WHERE device_id = ? AND sensor_id = ? AND day = ? AND hour >= ? AND hour < ?',
};
const SELECT_STATISTICS = {
  name: 'read_statistics',
  cql: 'SELECT hour, count, min, max, sum, first, last, read_from, late_at FROM history_stat WHERE device_id = ? AND sensor_id = ? AND year = ? AND hour >= ? AND hour < ?',
  // Rows of about 100 bytes. The driver decodes a page of 2,000 in about 5 ms.
  fetchSize: 2000,
};

/** @param {Session} session */
export function createHistoryReads(session) {
  return {
    /**
     * Reads the rows of some hours as they are stored. A sample that is in two rows is returned twice.
     *
     * @param {SensorBytes} key
     * @param {number} from epoch ms, the start of an hour
     * @param {number} to epoch ms, the end of an hour of the same UTC day
     * @returns {Promise<Map<number, Series[]>>} by hour, one sorted series a row
     */
    async readSamples(key, from, to) {
      const rows = await session.all(SELECT_SAMPLES, [...dayKey(key, from), int64(from), int64(to)]);
      /** @type {Map<number, Series[]>} */
      const hours = new Map();
      for (const row of rows) {
        const hour = row['hour'].getTime();
        const series = unpackSamples(hour, row['samples']);
        const list = hours.get(hour);
        if (list) list.push(series);
        else hours.set(hour, [series]);
      }
      return hours;
    },

    /**
     * @param {SensorBytes} key
     * @param {number} from epoch ms, the start of an hour
     * @param {number} to epoch ms, the end of an hour of the same UTC year
     * @returns {Promise<HourRow[]>} in order of time; hours without a row are not in it
     */
    async readStatistics(key, from, to) {
      const rows = await session.all(SELECT_STATISTICS, [...yearKey(key, from), int64(from), int64(to)]);
      return rows.map(hourRow);
    },

    /** @param {SensorBytes} key @param {number} hour epoch ms @returns {Promise<Series[]>} one sorted series a row */
    async readHour(key, hour) {
      return (await this.readSamples(key, hour, hour + HOUR_MS)).get(hour) ?? [];
    },
  };
}

/** @typedef {ReturnType<typeof createHistoryReads>} HistoryReads */

/** @param {Row} row @returns {HourRow} */
function hourRow(row) {
  const { count, min, max, sum, first, last } = row;
  const isPacked = row['read_from'] !== null;
  return {
    hour: row['hour'].getTime(),
    statistics: isPacked ? { count, min, max, sum, first, last } : null,
    readFrom: isPacked ? row['read_from'].toNumber() / 1000 : null,
    lateAt: row['late_at'] === null ? null : row['late_at'].toNumber() / 1000,
  };
}

/**
 * The key of a sensor: the first columns of every partition key of history.
 *
 * @typedef {{ device: Buffer, sensor: Buffer }} SensorBytes 16 bytes each
 */

/** @param {SensorBytes} key @param {number} hour epoch ms @returns {Buffer[]} the partition of `history` that holds it */
export const dayKey = ({ device, sensor }, hour) => [device, sensor, int64(dayOf(hour))];

/** @param {SensorBytes} key @param {number} hour epoch ms @returns {Buffer[]} the partition of `history_stat` that holds it */
export const yearKey = ({ device, sensor }, hour) => [device, sensor, int32(yearOf(hour))];
