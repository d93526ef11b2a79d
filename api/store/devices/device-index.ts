import type { types } from 'cassandra-driver';
import { uuidBytes, uuidText } from '../../../schema/ids.ts';
import type { Session } from '../sending/session.ts';
import type { Place } from './group-iterator.ts';

const SELECT_BY_SITE =
  'SELECT device_id, written_at, WRITETIME(written_at) AS stamp FROM device_by_site WHERE site = ? AND grp = ?';
const FIRST = { name: 'devices_by_site', cql: `${SELECT_BY_SITE} LIMIT ?` };
const NEXT = { name: 'devices_by_site', cql: `${SELECT_BY_SITE} AND device_id > ? LIMIT ?` };
const REMOVE = {
  name: 'unindex_device',
  cql: 'DELETE FROM device_by_site USING TIMESTAMP ? WHERE site = ? AND grp = ? AND device_id = ?',
};

interface DeviceEntry {
  group: number;
  key: string;
  /** epoch ms by the clock of the process that wrote the row */
  writtenAt: number;
  /** epoch µs */
  writeTimestamp: types.Long;
}

export function createDeviceIndex(session: Session) {
  return {
    async after(site: string, { group, key }: Place<string>, limit: number): Promise<DeviceEntry[]> {
      const rows =
        key === undefined
          ? await session.all(FIRST, [site, group, limit])
          : await session.all(NEXT, [site, group, uuidBytes(key), limit]);
      return rows.map((row) => ({
        group,
        key: uuidText(row['device_id'].getBuffer()),
        writtenAt: row['written_at'].getTime(),
        writeTimestamp: row['stamp'],
      }));
    },

    /** The removal has the write timestamp of the row that was read, so a newer row of the device survives. */
    remove: (site: string, { group, key, writeTimestamp }: DeviceEntry) =>
      session.write(REMOVE, [writeTimestamp, site, group, uuidBytes(key)]),
  };
}

/** In ms. A younger stale row may belong to a registration that is still in progress. */
const STALE_AFTER_MS = 600_000;

export const isOldEnough = ({ writtenAt }: { writtenAt: number }, now: number) =>
  now - writtenAt >= STALE_AFTER_MS;
