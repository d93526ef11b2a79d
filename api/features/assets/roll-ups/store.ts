import { type SensorBytes, uuidBytes } from '../../../../schema/ids.ts';
import { DAY_MS, yearOf } from '../../../../schema/rules.ts';
import type { Page } from '../../../store/history/unpacked.ts';
import { int32, int64, writeTimestamp } from '../../../store/index.ts';
import type { DeviceKey } from '../../../store/registry/rows.ts';
import type { Row, Session } from '../../../store/sending/session.ts';
import { packDay, type StoredDay, unpackDay, unpackOldDay } from './roll-up.ts';

const SELECT_DAYS = {
  name: 'read_roll_ups',
  cql: 'SELECT day, roll_ups, hours FROM asset_stat WHERE asset = ? AND type = ? AND year = ? AND day >= ? AND day < ?',
};
const UPDATE_DAY =
  'UPDATE asset_stat USING TIMESTAMP ? SET roll_ups = ? WHERE asset = ? AND type = ? AND year = ? AND day = ?';
const SELECT_TYPES = { name: 'read_asset_types', cql: 'SELECT type FROM asset_type WHERE asset = ?' };
const INSERT_TYPE = { name: 'write_asset_type', cql: 'INSERT INTO asset_type (asset, type) VALUES (?, ?)' };
const SELECT_SENSORS = {
  name: 'read_sensor_types',
  cql: 'SELECT sensor_id, type FROM sensor WHERE grp = ? AND device_id = ?',
};
const SELECT_FORMER = {
  name: 'read_former_sensors',
  cql: 'SELECT sensor_id, type FROM asset_former_sensor WHERE device_id = ?',
};
const INSERT_FORMER = 'INSERT INTO asset_former_sensor (device_id, sensor_id, type) VALUES (?, ?, ?)';
const SELECT_DUE = {
  name: 'read_asset_due',
  cql: 'SELECT hour, device_id FROM asset_due WHERE grp = ? AND bucket = ?',
};
const INSERT_DUE = 'INSERT INTO asset_due (grp, bucket, hour, device_id) VALUES (?, ?, ?, ?)';
const SELECT_PROGRESS = {
  name: 'read_asset_progress',
  cql: 'SELECT due_until, rolled_until, version, filling, filled_until FROM asset_progress WHERE grp = ?',
};
const WRITE_DUE_UNTIL = {
  name: 'write_asset_due_until',
  cql: 'UPDATE asset_progress USING TIMESTAMP ? SET due_until = ? WHERE grp = ?',
};
const WRITE_ROLLED_UNTIL = {
  name: 'write_asset_rolled_until',
  cql: 'UPDATE asset_progress USING TIMESTAMP ? SET rolled_until = ? WHERE grp = ?',
};
const WRITE_VERSION = {
  name: 'write_asset_version',
  cql: 'UPDATE asset_progress USING TIMESTAMP ? SET version = ? WHERE grp = ?',
};
const WRITE_FILLED = {
  name: 'write_asset_filled',
  cql: 'UPDATE asset_progress SET filling = ?, filled_until = ? WHERE grp = ?',
};

/** All roll-ups have one progress and one lease. */
export const GRP = 0;

/** `device`: 16 bytes; `hour`: epoch ms */
export interface DueHour {
  device: Buffer;
  hour: number;
}

/** Times are epoch ms. */
export interface RollUpProgress {
  /** null: no process has rolled up yet */
  dueUntil: number | null;
  /** null: unknown */
  rolledUntil: number | null;
  version: number;
  /** edits up to this version change older hours now, and the hours before `filledUntil` are done */
  filling: number;
  filledUntil: number;
}

export function createRollUpStore(session: Session) {
  return {
    /** The hours are unpacked while they are iterated. @param to the end of a day of the same UTC year as `from`, the start of a day */
    async days(asset: string, type: string, from: number, to: number): Promise<Map<number, StoredDay>> {
      const year = int32(yearOf(from));
      const range = [uuidBytes(asset), type, year, int64(from), int64(to)];
      const rows = await session.all(SELECT_DAYS, range);
      return new Map(
        rows.map((row) => {
          const day: number = row['day'].getTime();
          const packed: Buffer | null = row['roll_ups'];
          return [day, packed ? unpackDay(day, packed) : unpackOldDay(day, row['hours'] ?? {})];
        }),
      );
    },

    /** @param days of one UTC year, whole, by the day's start */
    writeDays: (asset: string, type: string, days: Map<number, StoredDay>) =>
      session.writeBatch(
        'write_roll_ups',
        Array.from(days, ([day, stored]) => ({
          query: UPDATE_DAY,
          params: [
            int64(stored.stamp),
            packDay(day, stored),
            uuidBytes(asset),
            type,
            int32(yearOf(day)),
            int64(day),
          ],
        })),
      ),

    async types(asset: string): Promise<string[]> {
      const rows = await session.all(SELECT_TYPES, [uuidBytes(asset)]);
      return rows.map((row) => row['type']);
    },

    writeType: (asset: string, type: string) => session.write(INSERT_TYPE, [uuidBytes(asset), type]),

    /** The sensors of a device, also of a retired one. Leaves out sensors without a type. */
    async sensors({ group, bytes }: DeviceKey): Promise<TypedSensor[]> {
      const registered = await session.all(SELECT_SENSORS, [group, bytes]);
      return typedSensors(registered.length > 0 ? registered : await session.all(SELECT_FORMER, [bytes]));
    },

    /** Keeps the types of the sensors of a device that retires. */
    async keepSensors({ group, bytes }: DeviceKey): Promise<void> {
      const sensors = typedSensors(await session.all(SELECT_SENSORS, [group, bytes]));
      await session.writeBatch(
        'write_former_sensors',
        sensors.map(({ sensor, type }) => ({ query: INSERT_FORMER, params: [bytes, sensor, type] })),
      );
    },

    writeDue: (group: number, bucket: number, hours: DueHour[]): Promise<unknown> =>
      session.writeBatch(
        'write_asset_due',
        hours.map(({ device, hour }) => ({
          query: INSERT_DUE,
          params: [int32(group), int64(bucket), int64(hour), device],
        })),
      ),

    async duePage(group: number, bucket: number, after?: string): Promise<Page<DueHour>> {
      const { rows, next } = await session.page(SELECT_DUE, [int32(group), int64(bucket)], after);
      const items = rows.map((row) => ({
        hour: row['hour'].getTime(),
        device: row['device_id'].getBuffer(),
      }));
      return { items, next };
    },

    async progress(): Promise<RollUpProgress> {
      const row = await session.one(SELECT_PROGRESS, [GRP]);
      return {
        dueUntil: row?.['due_until']?.getTime() ?? null,
        rolledUntil: row?.['rolled_until']?.getTime() ?? null,
        version: row?.['version'] ?? 0,
        filling: row?.['filling'] ?? 0,
        filledUntil: row?.['filled_until']?.getTime() ?? 0,
      };
    },

    /** The write timestamp is `until` itself, so of two processes the later progress wins. */
    writeDueUntil: (until: number) =>
      session.write(WRITE_DUE_UNTIL, [writeTimestamp(until), int64(until), GRP]),

    writeRolledUntil: (until: number) =>
      session.write(WRITE_ROLLED_UNTIL, [writeTimestamp(until), int64(until), GRP]),

    writeVersion: (version: number) =>
      session.write(WRITE_VERSION, [writeTimestamp(version), int32(version), GRP]),

    writeFilled: (filling: number, until: number) =>
      session.write(WRITE_FILLED, [int32(filling), int64(until), GRP]),
  };
}

export interface TypedSensor {
  sensor: SensorBytes;
  type: string;
}

const typedSensors = (rows: Row[]): TypedSensor[] =>
  rows.flatMap((row) =>
    row['type'] === null ? [] : { sensor: row['sensor_id'].getBuffer(), type: row['type'] },
  );

export type RollUpStore = ReturnType<typeof createRollUpStore>;

/** Cuts whole UTC days (epoch ms) at each new year. */
export function* yearsBetween(from: number, to: number): Generator<{ from: number; to: number }> {
  for (let at = from; at < to; ) {
    const end = Math.min(to, Date.UTC(yearOf(at) + 1, 0));
    yield { from: at, to: end };
    at = end;
  }
}

export const endOfDay = (ts: number): number => Math.ceil(ts / DAY_MS) * DAY_MS;
