import { uuidText } from '../../../schema/ids.js';
import { mergeSeries } from '../../../schema/packed/series.js';
import { int64 } from '../cells.js';
import { seriesOf } from './series.js';

/** @typedef {import('../../../schema/packed/series.js').Series} Series */

const SELECT_HOUR = {
  name: 'read_hour',
  cql: 'SELECT ts, last, samples FROM measurement_batch WHERE device_id = ? AND bucket = ? AND sensor_id = ?',
};

const SELECT_DEVICE_HOUR = {
  name: 'read_device_hour',
  cql: 'SELECT sensor_id, ts, last, samples FROM measurement_batch WHERE device_id = ? AND bucket = ?',
};

/** @param {import('../session.js').Session} session */
export function createSampleReads(session) {
  /**
   * All samples of a sensor in one hour, merged.
   *
   * @param {Buffer} device 16 bytes
   * @param {Buffer} sensor 16 bytes
   * @param {number} bucket epoch ms
   * @returns {Promise<Series>} in order of time
   */
  async function readHour(device, sensor, bucket) {
    const rows = await session.all(SELECT_HOUR, [device, int64(bucket), sensor]);
    return mergeSeries(rows.map((row) => seriesOf(bucket, row)));
  }

  return {
    readHour,

    /**
     * All rows of a device in one hour, as they are stored: what is in two rows comes twice.
     *
     * @param {Buffer} device 16 bytes
     * @param {number} bucket epoch ms
     * @returns {Promise<Map<string, Series[]>>} by sensor id, one series a row
     */
    async readDeviceHour(device, bucket) {
      const rows = await session.all(SELECT_DEVICE_HOUR, [device, int64(bucket)]);
      /** @type {Map<string, Series[]>} */
      const sensors = new Map();
      for (const row of rows) {
        const id = uuidText(row['sensor_id'].getBuffer());
        const list = sensors.get(id);
        if (list) list.push(seriesOf(bucket, row));
        else sensors.set(id, [seriesOf(bucket, row)]);
      }
      return sensors;
    },
  };
}

/** @typedef {ReturnType<typeof createSampleReads>} SampleReads */
