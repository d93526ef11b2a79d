import cassandra from 'cassandra-driver';
import { uuidBytes } from '../../../schema/ids.js';
import { MAX_SENSORS_PER_DEVICE } from '../../../schema/rules.js';
import { sensorRow } from '../registry/rows.js';
import { keyText, sensorKey } from './sensor-key.js';

const { types } = cassandra;

/** ScyllaDB takes 100 clustering keys in one IN. */
const KEYS_PER_READ = 100;

const SELECT =
  'SELECT device_id, sensor_id, device, name, type, unit, site, interval_ms, registered_at, ts, value FROM latest WHERE grp = ?';
const FIRST_OF_GROUP = { name: 'latest_page', cql: `${SELECT} LIMIT ?` };
const NEXT_OF_GROUP = {
  name: 'latest_page',
  cql: `${SELECT} AND (device_id, sensor_id) > (?, ?) LIMIT ?`,
};
const ALL_OF_DEVICE = { name: 'latest_device', cql: `${SELECT} AND device_id = ?` };
const FIRST_OF_DEVICE = { name: 'latest_device_page', cql: `${SELECT} AND device_id = ? LIMIT ?` };
const NEXT_OF_DEVICE = {
  name: 'latest_device_page',
  cql: `${SELECT} AND device_id = ? AND sensor_id > ? LIMIT ?`,
};
const BY_KEYS = { name: 'latest_keys', cql: `${SELECT} AND (device_id, sensor_id) IN ?` };

/** @typedef {import('./sensor-key.js').SensorKey} SensorKey */

/**
 * A sensor with its latest value.
 *
 * @typedef {import('../registry/rows.js').SensorRow & { deviceId: string }} LatestRow
 */

/**
 * Reads of the table `latest`.
 *
 * @param {import('../session.js').Session} session
 */
export function createLatestRows(session) {
  return {
    /**
     * @param {import('./walk.js').Place<SensorKey>} place
     * @param {number} limit
     * @returns {Promise<LatestRow[]>} the rows of the group after the place, in order
     */
    async after({ group, key }, limit) {
      const rows = key
        ? await session.all(NEXT_OF_GROUP, [group, uuidBytes(key.device), uuidBytes(key.sensor), limit])
        : await session.all(FIRST_OF_GROUP, [group, limit]);
      return rows.map(latestRow);
    },

    /** @param {import('../registry/rows.js').DeviceKey} device @returns {Promise<LatestRow[]>} all of a device */
    async ofDevice({ group, bytes }) {
      const rows = await session.all(ALL_OF_DEVICE, [group, bytes], MAX_SENSORS_PER_DEVICE);
      return rows.map(latestRow);
    },

    /**
     * @param {Buffer} device 16 bytes
     * @param {import('./walk.js').Place<SensorKey>} place
     * @param {number} limit
     * @returns {Promise<LatestRow[]>} the rows of the device after the place, in order
     */
    async ofDeviceAfter(device, { group, key }, limit) {
      const rows = key
        ? await session.all(NEXT_OF_DEVICE, [group, device, uuidBytes(key.sensor), limit])
        : await session.all(FIRST_OF_DEVICE, [group, device, limit]);
      return rows.map(latestRow);
    },

    /**
     * @param {number} group
     * @param {SensorKey[]} keys
     * @returns {Promise<Map<string, LatestRow>>} by `keyText`
     */
    async byKeys(group, keys) {
      /** @type {Map<string, LatestRow>} */
      const found = new Map();
      for (let from = 0; from < keys.length; from += KEYS_PER_READ) {
        const tuples = keys
          .slice(from, from + KEYS_PER_READ)
          .map(({ device, sensor }) => new types.Tuple(uuid(device), uuid(sensor)));
        for (const row of await session.all(BY_KEYS, [group, tuples])) {
          found.set(keyText(sensorKey(row)), latestRow(row));
        }
      }
      return found;
    },
  };
}

/** @typedef {ReturnType<typeof createLatestRows>} LatestRows */

/** @param {string} id */
const uuid = (id) => new types.Uuid(uuidBytes(id));

/** @param {import('../session.js').Row} row @returns {LatestRow} */
const latestRow = (row) => ({ ...sensorRow(row), deviceId: sensorKey(row).device });

/** A value whose sensor was retired in between leaves a row without a registration. @param {LatestRow} row */
export const isRegistered = (row) => row.registeredAt !== null;
