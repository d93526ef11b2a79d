import { unpackSamples } from '../../../schema/packed/unpack.js';
import { int64 } from '../cells.js';
import { seriesOf } from '../measurements/series.js';
import { dayKey } from './keys.js';

/** @typedef {import('../../../schema/packed/series.js').Series} Series */
/** @typedef {import('./keys.js').SensorBytes} SensorBytes */

/**
 * What a stored row holds; null: this process cannot read it. Who packs must not be stopped by one broken row.
 *
 * @typedef {Series | null} StoredSeries sorted
 */

/** @typedef {{ sensor: Buffer, series: StoredSeries }} StoredRow `sensor`: 16 bytes */

/** @template T @typedef {{ items: T[], next: string | undefined }} Page `next`: what to ask for the next page with; undefined at the end */

const DEVICES = { name: 'pack_devices', cql: 'SELECT device_id FROM device WHERE grp = ?' };
const SENSORS = {
  name: 'pack_sensors',
  cql: 'SELECT sensor_id FROM latest WHERE grp = ? AND device_id = ?',
};
const DEVICE_HOUR = {
  name: 'pack_device_hour',
  cql: 'SELECT sensor_id, ts, last, samples FROM measurement_batch WHERE device_id = ? AND bucket = ?',
};
const SENSOR_HOUR = {
  name: 'pack_sensor_hour',
  cql: 'SELECT ts, last, samples FROM measurement_batch WHERE device_id = ? AND bucket = ? AND sensor_id = ?',
};
const HISTORY_HOUR = {
  name: 'pack_history',
  cql: 'SELECT samples FROM history WHERE device_id = ? AND sensor_id = ? AND day = ? AND hour = ?',
};

/**
 * What a packer reads.
 *
 * @param {import('../session.js').Session} session
 */
export function createUnpackedReads(session) {
  return {
    /**
     * Whoever has a row in the group: registered, retired, or never registered at all. All of them may have samples.
     *
     * @param {number} group
     * @param {string} [after]
     * @returns {Promise<Page<Buffer>>} ids, 16 bytes each
     */
    async devicePage(group, after) {
      const { rows, next } = await session.page(DEVICES, [group], after);
      return { items: rows.map((row) => row['device_id'].getBuffer()), next };
    },

    /** @param {number} group @param {Buffer} device 16 bytes @returns {Promise<Buffer[]>} ids of its sensors, 16 bytes each */
    async sensorIds(group, device) {
      const rows = await session.all(SENSORS, [group, device]);
      return rows.map((row) => row['sensor_id'].getBuffer());
    },

    /**
     * The rows of a device in one hour, as they are stored, sensor after sensor.
     *
     * @param {Buffer} device 16 bytes
     * @param {number} hour epoch ms
     * @param {string} [after]
     * @returns {Promise<Page<StoredRow>>}
     */
    async deviceHourPage(device, hour, after) {
      const { rows, next } = await session.page(DEVICE_HOUR, [device, int64(hour)], after);
      return {
        items: rows.map((row) => ({
          sensor: row['sensor_id'].getBuffer(),
          series: readable(() => seriesOf(hour, row)),
        })),
        next,
      };
    },

    /** @param {SensorBytes} key @param {number} hour epoch ms @returns {Promise<StoredSeries[]>} one a row of its batches */
    async sensorHour({ device, sensor }, hour) {
      const rows = await session.all(SENSOR_HOUR, [device, int64(hour), sensor]);
      return rows.map((row) => readable(() => seriesOf(hour, row)));
    },

    /** @param {SensorBytes} key @param {number} hour epoch ms @returns {Promise<StoredSeries[]>} one a row of history */
    async historyHour(key, hour) {
      const rows = await session.all(HISTORY_HOUR, [...dayKey(key, hour), int64(hour)]);
      return rows.map((row) => readable(() => unpackSamples(hour, row['samples'])));
    },
  };
}

/** @typedef {ReturnType<typeof createUnpackedReads>} UnpackedReads */

/** @param {() => Series} unpack @returns {StoredSeries} */
function readable(unpack) {
  try {
    return unpack();
  } catch (error) {
    // What the bytes do not allow is a RangeError; a row without them is none of ours.
    if (error instanceof RangeError || error instanceof TypeError) return null;
    throw error;
  }
}
