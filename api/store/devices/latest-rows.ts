import type { types as DriverTypes } from 'cassandra-driver';
import cassandra from 'cassandra-driver';
import { type DeviceBytes, uuidBytes, uuidText } from '../../../schema/ids.ts';
import { greaterValue } from '../../../schema/packed/series.ts';
import { MAX_SENSORS_PER_DEVICE } from '../../../schema/rules.ts';
import { NOTHING_UNWRITTEN, type Unwritten } from '../measurements/reads.ts';
import { type DeviceKey, type SensorRow, sensorRow } from '../registry/rows.ts';
import type { Row, Session } from '../sending/session.ts';
import type { Place } from './device-pages.ts';

const { types } = cassandra;

/** ScyllaDB accepts 100 clustering keys in one IN. */
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

export type LatestRow = SensorRow & { deviceId: string };

/** Sensors come from the table `sensor`, values from the table `latest`. */
export function createLatestRows(session: Session, unwritten?: Pick<Unwritten, 'newestOf'>) {
  const newest = createNewestReads(session, unwritten);

  async function withValues(group: number, rows: Row[]): Promise<LatestRow[]> {
    const devices = new Map(rows.map((row) => [String(row['device_id']), row['device_id'].getBuffer()]));
    const values = await newest.ofDevices(group, [...devices.values()]);
    return rows.map((row) => latestRow(row, values.get(String(row['device_id']))));
  }

  return {
    async after({ group, key }: Place<SensorKey>, limit: number): Promise<LatestRow[]> {
      const rows = key
        ? await session.all(NEXT_OF_GROUP, [group, uuidBytes(key.device), uuidBytes(key.sensor), limit])
        : await session.all(FIRST_OF_GROUP, [group, limit]);
      return withValues(group, rows);
    },

    async ofDevice({ group, bytes }: DeviceKey): Promise<LatestRow[]> {
      const [rows, values] = await Promise.all([
        session.all(ALL_OF_DEVICE, [group, bytes], MAX_SENSORS_PER_DEVICE),
        newest.ofDevice({ group, bytes }),
      ]);
      return rows.map((row) => latestRow(row, values));
    },

    async ofDeviceAfter(
      device: DeviceBytes,
      { group, key }: Place<SensorKey>,
      limit: number,
    ): Promise<LatestRow[]> {
      const [rows, values] = await Promise.all([
        key
          ? session.all(NEXT_OF_DEVICE, [group, device, uuidBytes(key.sensor), limit])
          : session.all(FIRST_OF_DEVICE, [group, device, limit]),
        newest.ofDevice({ group, bytes: device }),
      ]);
      return rows.map((row) => latestRow(row, values));
    },

    async byKeys(group: number, keys: SensorKey[]): Promise<Map<string, LatestRow>> {
      const found: Map<string, LatestRow> = new Map();
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

export type LatestRows = ReturnType<typeof createLatestRows>;

const uuid = (id: string) => new types.Uuid(uuidBytes(id));

const latestRow = (row: Row, newest?: Map<string, Newest>): LatestRow => ({
  ...sensorRow(row, newest),
  deviceId: sensorKey(row).device,
});

/** Metadata that was written while a device was being retired leaves a row without a registration. */
export const isRegistered = (row: LatestRow) => row.registeredAt !== null;

/** Lower-case UUIDs. Cursors contain the key as JSON. */
export type SensorKey = { device: string; sensor: string };

export const sensorKey = (row: Row): SensorKey => ({
  device: uuidText(row['device_id'].getBuffer()),
  sensor: uuidText(row['sensor_id'].getBuffer()),
});

export const keyText = ({ device, sensor }: SensorKey): string => `${device}/${sensor}`;

export type Newest = { ts: number; value: number };

const OF_DEVICE = {
  name: 'newest_of_device',
  cql: 'SELECT newest FROM latest WHERE grp = ? AND device_id = ?',
};
const OF_DEVICES = {
  name: 'newest_of_devices',
  cql: 'SELECT device_id, newest FROM latest WHERE grp = ? AND device_id IN ?',
};

/** The table `latest` has one row for each device, with the newest value of each sensor. */
export function createNewestReads(
  session: Session,
  unwritten: Pick<Unwritten, 'newestOf'> = NOTHING_UNWRITTEN,
) {
  return {
    async ofDevice({ group, bytes }: DeviceKey): Promise<Map<string, Newest>> {
      const waiting = unwritten.newestOf(bytes);
      const row = await session.one(OF_DEVICE, [group, bytes]);
      return mergeNewest(newestOf(row?.['newest']), waiting);
    },

    async ofDevices(group: number, devices: DeviceBytes[]): Promise<Map<string, Map<string, Newest>>> {
      const found: Map<string, Map<string, Newest>> = new Map();
      for (let from = 0; from < devices.length; from += KEYS_PER_READ) {
        const some = devices.slice(from, from + KEYS_PER_READ);
        const waiting = some.map((device) => unwritten.newestOf(device));
        for (const row of await session.all(OF_DEVICES, [group, some]))
          found.set(String(row['device_id']), newestOf(row['newest']));
        some.forEach((device, place) => {
          const values = waiting[place];
          const id = uuidText(device);
          if (values) found.set(id, mergeNewest(found.get(id) ?? new Map(), values));
        });
      }
      return found;
    },
  };
}

/** Adds values to a map of sensors. Of two values with the same time the greater one counts, as in the table. */
export function mergeNewest(into: Map<string, Newest>, values: Map<string, Newest> | null | undefined) {
  for (const [sensor, value] of values ?? []) {
    const known = into.get(sensor);
    into.set(sensor, known ? newer(known, value) : value);
  }
  return into;
}

/** @returns `waiting` if both are the same */
export function newer<N extends Newest>(waiting: N, arriving: N): N {
  if (arriving.ts !== waiting.ts) return arriving.ts > waiting.ts ? arriving : waiting;
  return Object.is(greaterValue(waiting.value, arriving.value), waiting.value) ? waiting : arriving;
}

export const newestOf = (map: Record<string, DriverTypes.Tuple> | null | undefined): Map<string, Newest> =>
  new Map(
    Object.entries(map ?? {}).map(([sensor, pair]) => [
      sensor,
      { ts: pair.get(0).getTime(), value: pair.get(1) },
    ]),
  );
