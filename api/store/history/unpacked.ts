import type { DeviceBytes, SensorBytes } from '../../../schema/ids.ts';
import type { Series } from '../../../schema/packed/series.ts';
import { unpackRow } from '../../../schema/packed/unpack.ts';
import { int64 } from '../cql-values.ts';
import { createMessageRows } from '../measurements/reads.ts';
import type { Session } from '../sending/session.ts';
import { dayKey, type SensorKey } from './keys.ts';

/** Null if this process cannot decode the row. A broken row causes no error, because it must not stop the packer. */
export type StoredSeries = (Series & { digest: Buffer }) | null;

/** `next`: the argument that requests the next page; undefined at the end */
export type Page<T> = { items: T[]; next: string | undefined };

const DEVICES = { name: 'pack_devices', cql: 'SELECT device_id FROM device WHERE grp = ?' };
const SENSORS = {
  name: 'pack_sensors',
  cql: 'SELECT sensor_id FROM sensor WHERE grp = ? AND device_id = ?',
};
const HISTORY_HOUR = {
  name: 'pack_history',
  cql: 'SELECT digest, samples FROM history WHERE device_id = ? AND sensor_id = ? AND day = ? AND hour = ?',
};

export function createUnpackedReads(session: Session) {
  const messages = createMessageRows(session);

  return {
    /** Retired devices, and devices that were never registered, are included, because they may have samples too. */
    async devicePage(group: number, after?: string): Promise<Page<DeviceBytes>> {
      const { rows, next } = await session.page(DEVICES, [group], after);
      return { items: rows.map((row) => row['device_id'].getBuffer()), next };
    },

    async sensorIds(group: number, device: DeviceBytes): Promise<SensorBytes[]> {
      const rows = await session.all(SENSORS, [group, device]);
      return rows.map((row) => row['sensor_id'].getBuffer());
    },

    /** `after` is the `next` of the previous page. */
    blockPage: messages.page,

    /** Corrections of one row have the same digest. */
    async historyHour(key: SensorKey, hour: number): Promise<StoredSeries[]> {
      const rows = await session.all(HISTORY_HOUR, [...dayKey(key, hour), int64(hour)]);
      return rows.flatMap((row) =>
        unpackOrNull(() =>
          unpackRow(hour, row['samples']).map((series) => ({ ...series, digest: row['digest'] })),
        ),
      );
    },
  };
}

function unpackOrNull(unpack: () => Array<NonNullable<StoredSeries>>): StoredSeries[] {
  try {
    return unpack();
  } catch (error) {
    // The decoder throws a RangeError for malformed bytes, and a TypeError for missing bytes.
    if (error instanceof RangeError || error instanceof TypeError) return [null];
    throw error;
  }
}
