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

/** One row of the index of devices by site. */
interface DeviceEntry {
  group: number;
  /** the device's id */
  key: string;
  /** epoch ms by the clock of the process that wrote the row */
  writtenAt: number;
  /** epoch µs */
  writeTimestamp: types.Long;
}

/** Creates the store of the index table of devices by site. */
export function createDeviceIndex(session: Session) {
  return {
    /** @returns the first rows of the group after `place`, in order of the device ids */
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

    /**
     * Removes an index row. The removal has the write timestamp of the row that was read, so a newer row of
     * the device survives.
     */
    remove: (site: string, { group, key, writeTimestamp }: DeviceEntry) =>
      session.write(REMOVE, [writeTimestamp, site, group, uuidBytes(key)]),
  };
}

/** Age in ms at which a stale index row is removed. A younger row may belong to a registration that is still in progress. */
const STALE_AFTER_MS = 600_000;

/** @param entry epoch ms @param now epoch ms */
export const isOldEnough = ({ writtenAt }: { writtenAt: number }, now: number) =>
  now - writtenAt >= STALE_AFTER_MS;
