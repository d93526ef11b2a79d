import cassandra from 'cassandra-driver';
import { uuidBytes, uuidText } from '../../../schema/ids.js';
import { MAX_SENSORS_PER_DEVICE } from '../../../schema/rules.js';
import { createNewestReads } from '../latest/reads.js';
import { sensorRow } from '../registry/rows.js';

/** @import { Newest } from '../latest/reads.js' */
/** @import { DeviceKey, SensorRow } from '../registry/rows.js' */
/** @import { Row, Session } from '../sending/session.js' */
/** @import { Place } from './group-iterator.js' */

const { types } = cassandra;

/** Limit of clustering keys in one IN. ScyllaDB accepts 100. */
const KEYS_PER_READ = 100;

const SELECT =
  'SELECT device_id, sensor_id, device, name, type, unit, site, label, interval_ms, registered_at FROM sensor WHERE grp = ?';
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

/**
 * A sensor with its latest value.
 *
 * @typedef {SensorRow & { deviceId: string }} LatestRow
 */

/**
 * Creates the reader of sensors and their latest values. Sensors come from the table `sensor`, values from the table
 * `latest`.
 *
 * @param {Session} session
 */
export function createLatestRows(session) {
  const newest = createNewestReads(session);

  /** @param {number} group @param {Row[]} rows of `sensor` @returns {Promise<LatestRow[]>} */
  async function withValues(group, rows) {
    const devices = new Map(rows.map((row) => [String(row['device_id']), row['device_id'].getBuffer()]));
    const values = await newest.ofDevices(group, [...devices.values()]);
    return rows.map((row) => latestRow(row, values.get(String(row['device_id']))));
  }

  return {
    /**
     * @param {Place<SensorKey>} place
     * @param {number} limit
     * @returns {Promise<LatestRow[]>} the next rows of the group after the place, in order of their keys
     */
    async after({ group, key }, limit) {
      const rows = key
        ? await session.all(NEXT_OF_GROUP, [group, uuidBytes(key.device), uuidBytes(key.sensor), limit])
        : await session.all(FIRST_OF_GROUP, [group, limit]);
      return withValues(group, rows);
    },

    /** @param {DeviceKey} device @returns {Promise<LatestRow[]>} all sensors of the device */
    async ofDevice({ group, bytes }) {
      const [rows, values] = await Promise.all([
        session.all(ALL_OF_DEVICE, [group, bytes], MAX_SENSORS_PER_DEVICE),
        newest.ofDevice({ group, bytes }),
      ]);
      return rows.map((row) => latestRow(row, values));
    },

    /**
     * @param {Buffer} device 16 bytes
     * @param {Place<SensorKey>} place
     * @param {number} limit
     * @returns {Promise<LatestRow[]>} the next rows of the device after the place, in order of their keys
     */
    async ofDeviceAfter(device, { group, key }, limit) {
      const [rows, values] = await Promise.all([
        key
          ? session.all(NEXT_OF_DEVICE, [group, device, uuidBytes(key.sensor), limit])
          : session.all(FIRST_OF_DEVICE, [group, device, limit]),
        newest.ofDevice({ group, bytes: device }),
      ]);
      return rows.map((row) => latestRow(row, values));
    },

    /**
     * @param {number} group
     * @param {SensorKey[]} keys
     * @returns {Promise<Map<string, LatestRow>>} rows by the `keyText` of their keys
     */
    async byKeys(group, keys) {
      /** @type {Map<string, LatestRow>} */
      const found = new Map();
      for (let from = 0; from < keys.length; from += KEYS_PER_READ) {
        const tuples = keys
          .slice(from, from + KEYS_PER_READ)
          .map(({ device, sensor }) => new types.Tuple(uuid(device), uuid(sensor)));
        const rows = await session.all(BY_KEYS, [group, tuples]);
        for (const row of await withValues(group, rows))
          found.set(keyText({ device: row.deviceId, sensor: row.id }), row);
      }
      return found;
    },
  };
}

/** @typedef {ReturnType<typeof createLatestRows>} LatestRows */

/** @param {string} id */
const uuid = (id) => new types.Uuid(uuidBytes(id));

/** @param {Row} row @param {Map<string, Newest>} [newest] newest values of the device, by sensor id @returns {LatestRow} */
const latestRow = (row, newest) => ({ ...sensorRow(row, newest), deviceId: sensorKey(row).device });

/**
 * Returns whether a row is a registered sensor. Metadata that was written while a device was being retired leaves a
 * row without a registration.
 *
 * @param {LatestRow} row
 */
export const isRegistered = (row) => row.registeredAt !== null;

/**
 * The key of a sensor in the fleet. Cursors contain it as JSON.
 *
 * @typedef {{ device: string, sensor: string }} SensorKey lower-case UUIDs
 */

/** @param {Row} row with device_id and sensor_id @returns {SensorKey} */
export const sensorKey = (row) => ({
  device: uuidText(row['device_id'].getBuffer()),
  sensor: uuidText(row['sensor_id'].getBuffer()),
});

/** @param {SensorKey} key @returns {string} the key as one text, for use as the key of a Map */
export const keyText = ({ device, sensor }) => `${device}/${sensor}`;
