import { uuidText } from '../../schema/ids.js';
import { MAX_SENSORS_PER_DEVICE, MAX_STATEMENTS_PER_GROUP_COMMIT } from '../../schema/rules.js';
import { int32, int64 } from './cells.js';

const SELECT_DEVICE = {
  name: 'read_device',
  cql: 'SELECT name, site, state, session, last_seen, registered_at FROM device WHERE grp = ? AND device_id = ?',
};
const SELECT_SENSORS = {
  name: 'read_sensors',
  cql: 'SELECT sensor_id, device, name, type, unit, site, interval_ms, registered_at, ts, value FROM latest WHERE grp = ? AND device_id = ?',
};
const COUNT_DEVICES = { name: 'count_devices', cql: 'SELECT count(*) AS devices FROM device WHERE grp = ?' };
const WRITE_DEVICE = {
  name: 'write_device',
  cql: 'INSERT INTO device (grp, device_id, name, site, session, registered_at) VALUES (?, ?, ?, ?, ?, ?) USING TIMESTAMP ?',
};
const WRITE_STATUS = {
  name: 'write_status',
  cql: 'UPDATE device USING TIMESTAMP ? SET state = ?, session = ? WHERE grp = ? AND device_id = ?',
};
const WRITE_LAST_SEEN = 'UPDATE device USING TIMESTAMP ? SET last_seen = ? WHERE grp = ? AND device_id = ?';
const WRITE_SENSOR =
  'INSERT INTO latest (grp, device_id, sensor_id, device, name, type, unit, site, interval_ms, registered_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?';

/**
 * The index tables: which column of a sensor each holds, and what of it makes the partition beside the group.
 *
 * @type {Array<{ column: 'type' | 'site' | 'name', query: string, partition: (term: string) => string }>}
 */
const INDEXES = [
  {
    column: 'type',
    query:
      'INSERT INTO sensor_by_type (type, grp, device_id, sensor_id, written_at) VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?',
    partition: (term) => term,
  },
  {
    column: 'site',
    query:
      'INSERT INTO sensor_by_site (site, grp, device_id, sensor_id, written_at) VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?',
    partition: (term) => term,
  },
  {
    column: 'name',
    query:
      'INSERT INTO sensor_by_name (name, grp, device_id, sensor_id, written_at) VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?',
    partition: () => '',
  },
];

/**
 * Where a device lives: the first two columns of every registry key.
 *
 * @typedef {{ group: number, bytes: Buffer }} DeviceKey `bytes`: the id's 16
 */

/**
 * @typedef {object} DeviceRow
 * @property {string | null} name
 * @property {string | null} site
 * @property {string | null} state `online` or `offline`, null where no status was ever sent
 * @property {number | null} session epoch ms
 * @property {number | null} lastSeen epoch ms
 * @property {number} registeredAt epoch ms
 */

/**
 * @typedef {object} SensorRow
 * @property {string} id
 * @property {string | null} deviceName
 * @property {string | null} name
 * @property {string | null} type
 * @property {string | null} unit
 * @property {string | null} site
 * @property {number | null} intervalMs
 * @property {number | null} registeredAt epoch ms; null for a row that only a late update has made
 * @property {number | null} ts epoch ms
 * @property {number | null} value
 */

/**
 * What is to be written of one sensor. What is undefined stays as it is.
 *
 * @typedef {object} SensorChange
 * @property {Buffer} bytes the id's 16
 * @property {string} [device] the device's name
 * @property {string} [name]
 * @property {string} [type]
 * @property {string} [unit]
 * @property {string} [site]
 * @property {number} [intervalMs]
 * @property {number} [registeredAt] epoch ms
 * @property {number} stamp epoch µs of the writing
 */

/** @param {import('./session.js').Session} session */
export function createRegistryStore(session) {
  return {
    /** @param {DeviceKey} key @returns {Promise<DeviceRow | null>} null: nobody has registered it */
    async device({ group, bytes }) {
      const row = await session.one(SELECT_DEVICE, [group, bytes]);
      return row?.['registered_at'] ? deviceRow(row) : null;
    },

    /** @param {DeviceKey} key @returns {Promise<SensorRow[]>} at most as many as a device may have */
    async sensors({ group, bytes }) {
      const rows = await session.all(SELECT_SENSORS, [group, bytes], MAX_SENSORS_PER_DEVICE);
      return rows.map(sensorRow);
    },

    /** @param {number} groups @returns {Promise<number>} devices registered, counted partition by partition */
    async countDevices(groups) {
      let devices = 0;
      for (let group = 0; group < groups; group++) {
        const row = await session.one(COUNT_DEVICES, [group]);
        devices += Number(row?.['devices'] ?? 0);
      }
      return devices;
    },

    /**
     * @param {DeviceKey} key
     * @param {{ name?: string, site?: string, session?: number, registeredAt?: number }} change undefined stays as it is
     * @param {number} stamp epoch µs
     */
    writeDevice: ({ group, bytes }, { name, site, session: start, registeredAt }, stamp) =>
      session.write(WRITE_DEVICE, [
        group,
        bytes,
        name,
        site,
        start === undefined ? undefined : int64(start),
        registeredAt === undefined ? undefined : int64(registeredAt),
        int64(stamp),
      ]),

    /**
     * @param {DeviceKey} key
     * @param {{ state: 'online' | 'offline', session: number }} status
     * @param {number} stamp epoch µs
     */
    writeStatus: ({ group, bytes }, { state, session: start }, stamp) =>
      session.write(WRITE_STATUS, [int64(stamp), state, int64(start), group, bytes]),

    /**
     * @param {number} group
     * @param {Array<{ device: Buffer, at: number }>} updates `at` in epoch ms
     */
    writeLastSeen: (group, updates) =>
      session.writeBatch(
        'write_last_seen',
        updates.map(({ device, at }) => ({
          query: WRITE_LAST_SEEN,
          params: [int64(at * 1000), int64(at), group, device],
        })),
      ),

    /**
     * Indexes first: when the process ends between the two, the birth comes again and finds its sensors still
     * different; the other way round it would find nothing to do, and the index would stay incomplete.
     *
     * @param {DeviceKey} key
     * @param {SensorChange[]} changes
     * @param {number} now epoch ms
     */
    async writeSensors(key, changes, now) {
      for (const { name, queries } of [...indexWrites(key, changes, now), sensorWrites(key, changes)]) {
        for (let from = 0; from < queries.length; from += MAX_STATEMENTS_PER_GROUP_COMMIT) {
          await session.writeBatch(name, queries.slice(from, from + MAX_STATEMENTS_PER_GROUP_COMMIT));
        }
      }
    },
  };
}

/** @typedef {ReturnType<typeof createRegistryStore>} RegistryStore */

/**
 * Rows of the indexes, those of one partition together.
 *
 * @param {DeviceKey} key
 * @param {SensorChange[]} changes
 * @param {number} now epoch ms
 */
function indexWrites({ group, bytes }, changes, now) {
  /** @type {Map<string, { name: string, queries: Array<{ query: string, params: unknown[] }> }>} */
  const partitions = new Map();
  for (const change of changes) {
    for (const { column, query, partition } of INDEXES) {
      const term = change[column];
      if (term === undefined) continue;
      const at = `${column} ${partition(term)}`;
      const write = partitions.get(at) ?? { name: `index_${column}`, queries: [] };
      partitions.set(at, write);
      write.queries.push({
        query,
        params: [term, group, bytes, change.bytes, int64(now), int64(change.stamp)],
      });
    }
  }
  return [...partitions.values()];
}

/** @param {DeviceKey} key @param {SensorChange[]} changes */
const sensorWrites = (key, changes) => ({
  name: 'write_sensors',
  queries: changes.map((change) => ({ query: WRITE_SENSOR, params: sensorParams(key, change) })),
});

/** @param {DeviceKey} key @param {SensorChange} change */
const sensorParams = ({ group, bytes }, change) => [
  group,
  bytes,
  change.bytes,
  change.device,
  change.name,
  change.type,
  change.unit,
  change.site,
  change.intervalMs === undefined ? undefined : int32(change.intervalMs),
  change.registeredAt === undefined ? undefined : int64(change.registeredAt),
  int64(change.stamp),
];

/** @param {import('./session.js').Row} row @returns {DeviceRow} */
export const deviceRow = (row) => ({
  name: row['name'],
  site: row['site'],
  state: row['state'],
  session: row['session']?.getTime() ?? null,
  lastSeen: row['last_seen']?.getTime() ?? null,
  registeredAt: row['registered_at'].getTime(),
});

/** @param {import('./session.js').Row} row @returns {SensorRow} */
export const sensorRow = (row) => ({
  id: uuidText(row['sensor_id'].getBuffer()),
  deviceName: row['device'],
  name: row['name'],
  type: row['type'],
  unit: row['unit'],
  site: row['site'],
  intervalMs: row['interval_ms'],
  registeredAt: row['registered_at']?.getTime() ?? null,
  ts: row['ts']?.getTime() ?? null,
  value: row['value'],
});
