import { unpackSamples } from '../../../schema/packed/unpack.js';
import { int64 } from '../cql-encoding.js';
import { createMessageRows } from '../measurements/rows.js';
import { dayKey } from './keys.js';

/** @import { Series } from '../../../schema/packed/series.js' */
/** @import { Session } from '../sending/session.js' */
/** @import { SensorBytes } from './keys.js' */

/**
 * The samples of a stored row; null if this process cannot decode it. One broken row must not stop the packer.
 *
 * @typedef {Series | null} StoredSeries sorted
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
 * Reads of the packer.
 *
 * @param {Session} session
 */
export function createUnpackedReads(session) {
  const messages = createMessageRows(session);

  return {
    /**
     * Reads the devices of a group: registered, retired, and never registered ones. All of them may have samples.
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

    /** Reads a page of the blocks of a device in one hour. `after` is the `next` of the previous page. */
    blockPage: messages.page,

    /**
     * @param {SensorBytes} key
     * @param {number} hour epoch ms
     * @returns {Promise<StoredSeries[]>} one for each row of history
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
    // Malformed bytes cause a RangeError, missing bytes a TypeError.
    if (error instanceof RangeError || error instanceof TypeError) return null;
    throw error;
  }
}
