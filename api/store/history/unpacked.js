import { unpackSamples } from '../../../schema/packed/unpack.js';
import { int64 } from '../cells.js';
import { createMessageRows } from '../measurements/rows.js';
import { dayKey } from './reads.js';

/** @import { Series } from '../../../schema/packed/series.js' */
/** @import { Session } from '../session.js' */
/** @import { SensorBytes } from './reads.js' */

/**
 * What a stored row holds; null: this process cannot read it. Who packs must not be stopped by one broken row.
 *
 * @typedef {Series | null} StoredSeries sorted
 */

/** @template T @typedef {{ items: T[], next: string | undefined }} Page `next`: what to ask for the next page with; undefined at the end */

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
 * What a packer reads.
 *
 * @param {Session} session
 */
export function createUnpackedReads(session) {
  const messages = createMessageRows(session);

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

    /** A page of the blocks of a device in one hour; `after` is the `next` of the page before. */
    blockPage: messages.page,

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
