import { DAY_MS, dayOf } from '../../../schema/rules.js';

/** @import { Client } from 'cassandra-driver' */
/** @import { Sensor } from '../../../api/history/reading/hours.js' */

const SELECT_LATEST =
  'SELECT device_id, sensor_id, device, name, type, unit, site FROM sensor WHERE grp = ? LIMIT ?';
const SELECT_DAY =
  'SELECT ts, value FROM measurement_row WHERE device_id = ? AND sensor_id = ? AND day = ? AND ts >= ? AND ts < ?';

/** Rows of a page: as many as the driver takes where nothing else is said, since they are small. */
const FETCH_SIZE = 5000;

/**
 * Rows as they are, by the driver itself: what reading is compared with.
 *
 * @param {Client} client
 */
export const createRowReader = (client) => ({
  /** @param {number} group @param {number} most @returns {Promise<number>} rows of one partition of `sensor` */
  latest: async (group, most) => (await client.execute(SELECT_LATEST, [group, most])).rows.length,

  /**
   * @param {Sensor} key
   * @param {number} from epoch ms
   * @param {number} to epoch ms
   * @returns {Promise<number>} samples
   */
  async samples({ device, sensor }, from, to) {
    /** @type {number[]} */
    const times = [];
    /** @type {number[]} */
    const values = [];
    for (let day = dayOf(from); day < to; day += DAY_MS) {
      const params = [device, sensor, new Date(day), new Date(from), new Date(to)];
      for await (const row of await client.execute(SELECT_DAY, params, { fetchSize: FETCH_SIZE })) {
        times.push(row['ts'].getTime());
        values.push(row['value']);
      }
    }
    return Math.min(times.length, values.length);
  },
});

/** @typedef {ReturnType<typeof createRowReader>} RowReader */
