/** @import { types } from 'cassandra-driver' */
/** @import { DeviceKey } from '../registry/rows.js' */
/** @import { Session } from '../sending/session.js' */

/**
 * The newest value of a sensor.
 *
 * @typedef {{ ts: number, value: number }} Newest `ts` in epoch ms
 */

/** Limit of clustering keys in one IN. ScyllaDB accepts 100. */
const KEYS_PER_READ = 100;

const OF_DEVICE = {
  name: 'newest_of_device',
  cql: 'SELECT newest FROM latest WHERE grp = ? AND device_id = ?',
};
const OF_DEVICES = {
  name: 'newest_of_devices',
  cql: 'SELECT device_id, newest FROM latest WHERE grp = ? AND device_id IN ?',
};

/**
 * Creates the reads of the table `latest`. It has one row for each device, with the newest value of each sensor.
 *
 * @param {Session} session
 */
export function createNewestReads(session) {
  return {
    /** @param {DeviceKey} key @returns {Promise<Map<string, Newest>>} newest values of the device, by sensor id */
    async ofDevice({ group, bytes }) {
      const row = await session.one(OF_DEVICE, [group, bytes]);
      return newestOf(row?.['newest']);
    },

    /**
     * @param {number} group
     * @param {Buffer[]} devices ids, 16 bytes each
     * @returns {Promise<Map<string, Map<string, Newest>>>} newest values by device id, then by sensor id
     */
    async ofDevices(group, devices) {
      /** @type {Map<string, Map<string, Newest>>} */
      const found = new Map();
      for (let from = 0; from < devices.length; from += KEYS_PER_READ) {
        const some = devices.slice(from, from + KEYS_PER_READ);
        for (const row of await session.all(OF_DEVICES, [group, some]))
          found.set(String(row['device_id']), newestOf(row['newest']));
      }
      return found;
    },
  };
}

/** @typedef {ReturnType<typeof createNewestReads>} NewestReads */

/** @param {Record<string, types.Tuple> | null | undefined} map @returns {Map<string, Newest>} */
const newestOf = (map) =>
  new Map(
    Object.entries(map ?? {}).map(([sensor, pair]) => [
      sensor,
      { ts: pair.get(0).getTime(), value: pair.get(1) },
    ]),
  );
