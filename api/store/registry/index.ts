import { MAX_SENSORS_PER_DEVICE } from '../../../schema/rules.js';
import { int64 } from '../cql-encoding.js';
import { createNewestReads } from '../latest/reads.js';
import { deviceRow, sensorRow } from './rows.js';
import { sensorWrites } from './sensor-writes.js';

/** @import { Session } from '../sending/session.js' */
/** @import { DeviceKey, DeviceRow, SensorRow } from './rows.js' */
/** @import { PartitionWrite, SensorChange } from './sensor-writes.js' */

const SELECT_DEVICE = {
  name: 'read_device',
  cql: 'SELECT name, site, label, state, WRITETIME(state) AS state_stamp, session, WRITETIME(session) AS session_stamp, ended_sessions, clock_offset, described_at, WRITETIME(described_at) AS described_at_stamp, last_seen, registered_at, retired_at FROM device WHERE grp = ? AND device_id = ?',
};
const SELECT_RETIRED_AT = {
  name: 'read_retired_at',
  cql: 'SELECT retired_at FROM device WHERE grp = ? AND device_id = ?',
};
const SELECT_SENSORS = {
  name: 'read_sensors',
  cql: 'SELECT sensor_id, device, name, type, unit, site, label, interval_ms, registered_at FROM sensor WHERE grp = ? AND device_id = ?',
};
const COUNT_DEVICES = {
  name: 'count_devices',
  cql: 'SELECT count(registered_at) AS devices FROM device WHERE grp = ?',
};
const WRITE_DEVICE = {
  name: 'write_device',
  cql: 'INSERT INTO device (grp, device_id, name, site, label, session, ended_sessions, clock_offset, described_at, registered_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?',
};
const WRITE_STATUS = {
  name: 'write_status',
  cql: 'UPDATE device USING TIMESTAMP ? SET state = ?, session = ?, ended_sessions = ?, clock_offset = ? WHERE grp = ? AND device_id = ?',
};
const INDEX_DEVICE = {
  name: 'index_device',
  cql: 'INSERT INTO device_by_site (site, grp, device_id, written_at) VALUES (?, ?, ?, ?) USING TIMESTAMP ?',
};
const WRITE_SENSORS_AT = {
  name: 'write_sensors_at',
  cql: 'UPDATE device USING TIMESTAMP ? SET sensors_at = ? WHERE grp = ? AND device_id = ?',
};

/**
 * Creates the reads and writes of the registry: devices, their sensors, and the indexes by site, type and name.
 *
 * @param {Session} session
 */
export function createRegistryStore(session) {
  const newest = createNewestReads(session);

  return {
    /** @param {DeviceKey} key @returns {Promise<DeviceRow | null>} null: the device is not registered */
    async device({ group, bytes }) {
      const row = await session.one(SELECT_DEVICE, [group, bytes]);
      return row?.['registered_at'] ? deviceRow(row) : null;
    },

    /** @param {DeviceKey} key @returns {Promise<number | null>} epoch ms of the last retirement; null: the device was never retired */
    async retiredAt({ group, bytes }) {
      const row = await session.one(SELECT_RETIRED_AT, [group, bytes]);
      return row?.['retired_at']?.getTime() ?? null;
    },

    /** @param {DeviceKey} key @returns {Promise<SensorRow[]>} all sensors of the device, which has 10,000 at most */
    async sensors({ group, bytes }) {
      const [rows, values] = await Promise.all([
        session.all(SELECT_SENSORS, [group, bytes], MAX_SENSORS_PER_DEVICE),
        newest.ofDevice({ group, bytes }),
      ]);
      return rows.map((row) => sensorRow(row, values));
    },

    /** @param {number} groups @returns {Promise<number>} number of registered devices, counted partition by partition */
    async countDevices(groups) {
      let devices = 0;
      for (let group = 0; group < groups; group++) {
        const row = await session.one(COUNT_DEVICES, [group]);
        devices += Number(row?.['devices'] ?? 0);
      }
      return devices;
    },

    /**
     * Writes a device to the index of devices by site. Commit this write before `writeDevice`: see `sensorWrites` for the
     * reason.
     *
     * @param {DeviceKey} key
     * @param {string} site
     * @param {number} now epoch ms
     * @param {number} writeTimestamp epoch µs
     */
    indexDevice: ({ group, bytes }, site, now, writeTimestamp) =>
      session.write(INDEX_DEVICE, [site, group, bytes, int64(now), int64(writeTimestamp)]),

    /** Stores the time at which sensors of a device changed. @param {DeviceKey} key @param {number} now epoch ms */
    writeSensorsAt: ({ group, bytes }, now) =>
      session.write(WRITE_SENSORS_AT, [int64(now * 1000), int64(now), group, bytes]),

    /**
     * @param {DeviceKey} key
     * @param {{ name?: string, site?: string, label?: string, describedAt?: number, registeredAt?: number } & SessionChange} change
     *   undefined members do not change
     * @param {number} writeTimestamp epoch µs
     */
    writeDevice: ({ group, bytes }, change, writeTimestamp) =>
      session.write(WRITE_DEVICE, [
        group,
        bytes,
        change.name,
        change.site,
        change.label,
        ...sessionCells(change),
        optionalTime(change.describedAt),
        optionalTime(change.registeredAt),
        int64(writeTimestamp),
      ]),

    /**
     * @param {DeviceKey} key
     * @param {{ state: 'online' | 'offline' } & SessionChange} change undefined members do not change
     * @param {number} writeTimestamp epoch µs
     */
    writeStatus: ({ group, bytes }, change, writeTimestamp) =>
      session.write(WRITE_STATUS, [
        int64(writeTimestamp),
        change.state,
        ...sessionCells(change),
        group,
        bytes,
      ]),

    /**
     * Returns the writes that register sensors. Commit the writes one by one, in the order that `sensorWrites` describes.
     */
    sensorWrites,

    /** @param {PartitionWrite} write */
    commit: ({ name, queries }) => session.writeBatch(name, queries),
  };
}

/** @typedef {ReturnType<typeof createRegistryStore>} RegistryStore */

/** Columns that change with a session. @typedef {{ session?: number, endedSessions?: number[], clockOffset?: number }} SessionChange `session`: epoch ms; `clockOffset`: ms */

/** @param {SessionChange} change */
const sessionCells = ({ session, endedSessions, clockOffset }) => [
  optionalTime(session),
  endedSessions && JSON.stringify(endedSessions),
  clockOffset === undefined ? undefined : int64(clockOffset),
];

/** @param {number | undefined} ms epoch ms */
const optionalTime = (ms) => (ms === undefined ? undefined : int64(ms));
