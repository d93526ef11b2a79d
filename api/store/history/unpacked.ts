import { unpackSamples } from '../../../schema/packed/unpack.js';
import { int64 } from '../cql-encoding.js';
import { createMessageRows } from '../measurements/rows.js';
import { dayKey } from './keys.js';

/** @import { Series } from '../../../schema/packed/series.js' */
/** @import { Session } from '../sending/session.js' */
/** @import { SensorBytes } from './keys.js' */

/**
 * The sorted samples of a stored row, or null if this process cannot decode the row. A broken row causes no error, because
 * it must not stop the packer.
 *
 * @typedef {Series | null} StoredSeries
 */

/**
 * @template T
 * @typedef {{ items: T[], next: string | undefined }} Page `next`: the argument that requests the next page;
 *   undefined at the end
 */

const DEVICES = { name: 'pack_devices', cql: 'SELECT device_id FROM device WHERE grp = ?' };
const SENSORS = {
  name: 'pack_sensors',
  cql: 'SELECT sensor_id FROM sensor WHERE grp = ? AND device_id = ?',
};
const HISTORY_HOUR = {
  name: 'pack_history',
  cql: 'SELECT samples FROM history WHERE device_id = ? AND sensor_id = ? AND day = ? AND hour = ?',
};

/**
 * Creates the reads of the packer: devices, sensors, and samples that are not packed yet.
 *
 * @param {Session} session
 */
export function createUnpackedReads(session) {
  const messages = createMessageRows(session);

  return {
    /**
     * Reads the devices of a group. Retired devices, and devices that were never registered, are included, because they
     * may have samples too.
     *
     * @param {number} group
     * @param {string} [after] `next` of the previous page
     * @returns {Promise<Page<Buffer>>} device ids, 16 bytes each
     */
    async devicePage(group, after) {
      const { rows, next } = await session.page(DEVICES, [group], after);
      return { items: rows.map((row) => row['device_id'].getBuffer()), next };
    },

    /** @param {number} group @param {Buffer} device 16 bytes @returns {Promise<Buffer[]>} ids of the device's sensors, 16 bytes each */
    async sensorIds(group, device) {
      const rows = await session.all(SENSORS, [group, device]);
      return rows.map((row) => row['sensor_id'].getBuffer());
    },

    /** Reads a page of the blocks of a device in one hour. `after` is the `next` of the previous page. */
    blockPage: messages.page,

    /**
     * @param {SensorBytes} key
     * @param {number} hour epoch ms
     * @returns {Promise<StoredSeries[]>} one series for each row of `history` in the hour
     */
    async historyHour(key, hour) {
      const rows = await session.all(HISTORY_HOUR, [...dayKey(key, hour), int64(hour)]);
      return rows.map((row) => unpackOrNull(() => unpackSamples(hour, row['samples'])));
    },
  };
}

/** @typedef {ReturnType<typeof createUnpackedReads>} UnpackedReads */

/** @param {() => Series} unpack @returns {StoredSeries} */
function unpackOrNull(unpack) {
  try {
    return unpack();
  } catch (error) {
    // The decoder throws a RangeError for malformed bytes, and a TypeError for missing bytes.
    if (error instanceof RangeError || error instanceof TypeError) return null;
    throw error;
  }
}
