import { uuidBytes } from '../../../schema/ids.ts';
import { DAY_MS, MAX_SENSORS_PER_DEVICE, MAX_STATEMENTS_PER_BATCH } from '../../../schema/rules.ts';
import {
  encodeStamp,
  greaterStamp,
  int64,
  msOfStamp,
  readStamp,
  type Stamp,
  stampOf,
  writeTimestamp,
} from '../cql-values.ts';
import { createCorrectedLatest } from '../latest/corrected.ts';
import type { Query, Row, Session } from '../sending/session.ts';
import type { DeviceKey } from './rows.ts';

const CONCURRENT_REQUESTS = 16;

const DEVICE_COLUMNS = [
  'name',
  'site',
  'label',
  'state',
  'session',
  'ended_sessions',
  'clock_offset',
  'described_at',
  'last_seen',
  'registered_at',
  'sensors_at',
];
const SENSOR_COLUMNS = ['device', 'name', 'type', 'unit', 'site', 'label', 'interval_ms', 'registered_at'];

const SELECT_DEVICE = {
  name: 'read_retiring_device',
  cql: 'SELECT site, registered_at, retired_at, WRITETIME(name) AS name_stamp, WRITETIME(site) AS site_stamp, WRITETIME(label) AS label_stamp, WRITETIME(described_at) AS described_at_stamp, WRITETIME(state) AS state_stamp, WRITETIME(session) AS session_stamp, WRITETIME(ended_sessions) AS ended_sessions_stamp, WRITETIME(clock_offset) AS clock_offset_stamp, WRITETIME(last_seen) AS last_seen_stamp, WRITETIME(registered_at) AS registered_at_stamp, WRITETIME(sensors_at) AS sensors_at_stamp FROM device WHERE grp = ? AND device_id = ?',
};
const SELECT_SENSORS = {
  name: 'read_retiring_sensors',
  cql: 'SELECT sensor_id, name, type, site, WRITETIME(device) AS device_stamp, WRITETIME(name) AS name_stamp, WRITETIME(type) AS type_stamp, WRITETIME(unit) AS unit_stamp, WRITETIME(site) AS site_stamp, WRITETIME(label) AS label_stamp, WRITETIME(interval_ms) AS interval_ms_stamp, WRITETIME(registered_at) AS registered_at_stamp FROM sensor WHERE grp = ? AND device_id = ?',
};
const WRITE_RETIRED_AT = {
  name: 'retire_device',
  cql: 'UPDATE device USING TIMESTAMP ? SET retired_at = ? WHERE grp = ? AND device_id = ?',
};
const REMOVE_COLUMNS = {
  name: 'retire_device',
  cql: 'DELETE name, site, label, state, session, ended_sessions, clock_offset, described_at, last_seen, registered_at, sensors_at FROM device USING TIMESTAMP ? WHERE grp = ? AND device_id = ?',
};
const UNINDEX_DEVICE = {
  name: 'unindex_device',
  cql: 'DELETE FROM device_by_site USING TIMESTAMP ? WHERE site = ? AND grp = ? AND device_id = ?',
};
const REMOVE_SENSOR =
  'DELETE FROM sensor USING TIMESTAMP ? WHERE grp = ? AND device_id = ? AND sensor_id = ?';
const REMOVE_VALUE = 'DELETE newest[?] FROM latest USING TIMESTAMP ? WHERE grp = ? AND device_id = ?';
const UNINDEX_SENSOR = {
  type: 'DELETE FROM sensor_by_type USING TIMESTAMP ? WHERE type = ? AND grp = ? AND device_id = ? AND sensor_id = ?',
  site: 'DELETE FROM sensor_by_site USING TIMESTAMP ? WHERE site = ? AND grp = ? AND device_id = ? AND sensor_id = ?',
  name: 'DELETE FROM sensor_by_name USING TIMESTAMP ? WHERE name = ? AND grp = ? AND device_id = ? AND sensor_id = ?',
};

/**
 * Each deletion has the write timestamp of the cell that it deletes: of metadata the time of receipt, of a value the result of
 * `latestStamp`, or the greater one of a correction. A deletion with the current time would hide later values of the device after a new registration. `retired_at` is committed
 * first. It is greater than the write timestamps of all deletions, and a new registration gets write timestamps that are greater still. The
 * row with `retired_at` stays, so that the packer still finds the device.
 *
 * The registration itself is deleted last. So an interrupted retirement can be repeated.
 */
export function createRetirementStore(session: Session) {
  const latest = createCorrectedLatest(session);

  async function commit(name: string, partitions: Query[][]) {
    const batches = partitions.flatMap(cut);
    for (let from = 0; from < batches.length; from += CONCURRENT_REQUESTS) {
      const some = batches.slice(from, from + CONCURRENT_REQUESTS);
      await Promise.all(some.map((queries) => session.writeBatch(name, queries)));
    }
  }

  return {
    /** @returns false: the device is not registered */
    async retire(key: DeviceKey, now: number): Promise<boolean> {
      const { group, bytes } = key;
      const device = await session.one(SELECT_DEVICE, [group, bytes]);
      if (!device?.['registered_at']) return false;
      const sensors = await session.all(SELECT_SENSORS, [group, bytes], MAX_SENSORS_PER_DEVICE);
      const newestOfDevice = newestWrite(device, DEVICE_COLUMNS);
      const highest = sensors.reduce(
        (max, row) => greaterStamp(max, newestWrite(row, SENSOR_COLUMNS)),
        newestOfDevice,
      );
      const before = device['retired_at']?.getTime() ?? null;
      const entries = await latest.read({ ...key, retiredAt: before });
      const values = Array.from(entries, ([sensor, { stamp }]) => ({ sensor, stamp }));
      const highestValue = values.reduce((max, { stamp }) => greaterStamp(max, stamp), stampOf(0));
      // `retiredAt` exceeds all deleted values, so that values that are sent later get greater write timestamps. The limit of a day is for
      // repeated retirements: they must not move write timestamps so far into the future that ScyllaDB refuses them.
      const aboveValues = Math.min(msOfStamp(highestValue) + 1, now + DAY_MS);
      const retiredAt = Math.max(now, Math.ceil(highest / 1000), aboveValues);
      await session.write(WRITE_RETIRED_AT, [writeTimestamp(retiredAt), int64(retiredAt), group, bytes]);
      for (const column of ['type', 'site', 'name'] as const) {
        await commit(`unindex_${column}`, indexPartitions(key, sensors, column));
      }
      await commit('retire_sensors', [
        sensors.map((row) => ({
          query: REMOVE_SENSOR,
          params: [encodeStamp(newestWrite(row, SENSOR_COLUMNS)), group, bytes, row['sensor_id']],
        })),
        values.map(({ sensor, stamp }) => ({
          query: REMOVE_VALUE,
          params: [uuidBytes(sensor), encodeStamp(stamp), group, bytes],
        })),
      ]);
      if (device['site'] !== null) {
        await session.write(UNINDEX_DEVICE, [device['site_stamp'], device['site'], group, bytes]);
      }
      await session.write(REMOVE_COLUMNS, [encodeStamp(newestOfDevice), group, bytes]);
      return true;
    },
  };
}

export type RetirementStore = ReturnType<typeof createRetirementStore>;

const newestWrite = (row: Row, columns: string[]): Stamp =>
  columns.map((column) => readStamp(row[`${column}_stamp`] ?? 0)).reduce(greaterStamp, stampOf(0));

function indexPartitions(
  { group, bytes }: DeviceKey,
  sensors: Row[],
  column: keyof typeof UNINDEX_SENSOR,
): Query[][] {
  const partitions: Map<string, Query[]> = new Map();
  for (const row of sensors) {
    const term = row[column];
    if (term === null) continue;
    const partition = column === 'name' ? '' : term;
    const queries = partitions.get(partition) ?? [];
    partitions.set(partition, queries);
    queries.push({
      query: UNINDEX_SENSOR[column],
      params: [row[`${column}_stamp`], term, group, bytes, row['sensor_id']],
    });
  }
  return [...partitions.values()];
}

function cut(queries: Query[]): Query[][] {
  const parts = [];
  for (let from = 0; from < queries.length; from += MAX_STATEMENTS_PER_BATCH) {
    parts.push(queries.slice(from, from + MAX_STATEMENTS_PER_BATCH));
  }
  return parts;
}
