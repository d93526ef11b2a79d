import type { SensorBytes } from '../../../schema/ids.ts';
import { MAX_STATEMENTS_PER_BATCH } from '../../../schema/rules.ts';
import { encodeStamp, int32, int64, type Stamp } from '../cql-values.ts';
import type { DeviceKey } from './rows.ts';

/** One request: rows of one partition of one table. */
export type PartitionWrite = { name: string; queries: Array<{ query: string; params: unknown[] }> };

const WRITE_SENSOR =
  'INSERT INTO sensor (grp, device_id, sensor_id, device, name, type, unit, site, label, interval_ms, registered_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?';

/**
 * The index tables of sensors. `column`: the indexed column; `partition`: returns the partition, within a group, for a value of the column.
 */
const INDEXES: Array<{
  column: 'type' | 'site' | 'name';
  query: string;
  partition: (term: string) => string;
}> = [
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

export interface SensorChange {
  bytes: SensorBytes;
  deviceName?: string;
  name?: string;
  type?: string;
  unit?: string;
  site?: string;
  label?: string;
  intervalMs?: number;
  /** `partition` returns the partition within a group, for a value of the column. */
  registeredAt?: number;
  writeTimestamp: Stamp;
}

/**
 * Commit `indexes` before `sensors`. If the process ends between the two commits, the device's description is processed again: its sensors
 * still differ from `sensor`, so the index is written again. In the other order the index would stay incomplete.
 */
export function sensorWrites(
  key: DeviceKey,
  changes: SensorChange[],
  now: number,
): { indexes: PartitionWrite[]; sensors: PartitionWrite[] } {
  const rows = changes.map((change) => ({ query: WRITE_SENSOR, params: sensorParams(key, change) }));
  return {
    indexes: indexWrites(key, changes, now).flatMap(cut),
    sensors: cut({ name: 'write_sensors', queries: rows }),
  };
}

function cut({ name, queries }: PartitionWrite): PartitionWrite[] {
  const writes = [];
  for (let from = 0; from < queries.length; from += MAX_STATEMENTS_PER_BATCH) {
    writes.push({ name, queries: queries.slice(from, from + MAX_STATEMENTS_PER_BATCH) });
  }
  return writes;
}

function indexWrites({ group, bytes }: DeviceKey, changes: SensorChange[], now: number) {
  const partitions: Map<string, PartitionWrite> = new Map();
  for (const change of changes) {
    for (const { column, query, partition } of INDEXES) {
      const term = change[column];
      if (term === undefined) continue;
      const key = `${column} ${partition(term)}`;
      const write = partitions.get(key) ?? { name: `index_${column}`, queries: [] };
      partitions.set(key, write);
      write.queries.push({
        query,
        params: [term, group, bytes, change.bytes, int64(now), encodeStamp(change.writeTimestamp)],
      });
    }
  }
  return [...partitions.values()];
}

const sensorParams = ({ group, bytes }: DeviceKey, change: SensorChange) => [
  group,
  bytes,
  change.bytes,
  change.deviceName,
  change.name,
  change.type,
  change.unit,
  change.site,
  change.label,
  change.intervalMs === undefined ? undefined : int32(change.intervalMs),
  change.registeredAt === undefined ? undefined : int64(change.registeredAt),
  encodeStamp(change.writeTimestamp),
];
