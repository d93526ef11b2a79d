import type { types as DriverTypes } from 'cassandra-driver';
import cassandra from 'cassandra-driver';
import { uuidBytes, uuidText } from '../../../schema/ids.ts';
import { type DeviceRow, deviceRow } from '../registry/rows.ts';
import type { Row, Session } from '../sending/session.ts';

const { types } = cassandra;

/** ScyllaDB accepts 100 clustering keys in one IN. */
const KEYS_PER_READ = 100;

const SELECT =
  'SELECT device_id, name, site, label, state, session, last_seen, registered_at FROM device WHERE grp = ?';
const FIRST = { name: 'devices_page', cql: `${SELECT} LIMIT ?` };
const NEXT = { name: 'devices_page', cql: `${SELECT} AND device_id > ? LIMIT ?` };
const BY_KEYS = { name: 'devices_keys', cql: `${SELECT} AND device_id IN ?` };

type IdentifiedDevice = DeviceRow & { id: string };
export type DevicePlace = Place<string>;
type DeviceEntry = Entry<IdentifiedDevice, string>;

/** Reads the whole fleet from the table `device`, and the devices of a site by the index of sites. */
export function createDevicePages({
  session,
  groups,
  clock,
  onStaleIndex,
}: {
  session: Session;
  groups: number;
  clock: () => number;
  /** called for each index row that the table `device` contradicts */
  onStaleIndex: (kind: string) => void;
}) {
  const index = createDeviceIndex(session);

  async function readAll({ group, key }: DevicePlace, wanted: number): Promise<DeviceEntry[]> {
    const rows =
      key === undefined
        ? await session.all(FIRST, [group, wanted])
        : await session.all(NEXT, [group, uuidBytes(key), wanted]);
    return rows.map((row) => ({ key: idOf(row), row: registered(row) }));
  }

  async function byKeys(group: number, ids: string[]): Promise<Map<string, IdentifiedDevice>> {
    const found: Map<string, IdentifiedDevice> = new Map();
    for (let from = 0; from < ids.length; from += KEYS_PER_READ) {
      const keys = ids.slice(from, from + KEYS_PER_READ).map((id) => new types.Uuid(uuidBytes(id)));
      for (const row of await session.all(BY_KEYS, [group, keys])) {
        const device = registered(row);
        if (device) found.set(device.id, device);
      }
    }
    return found;
  }

  const readSite =
    (site: string): ((place: DevicePlace, wanted: number) => Promise<DeviceEntry[]>) =>
    async (place, wanted) => {
      const found = await index.after(site, place, wanted);
      const devices = await byKeys(
        place.group,
        found.map(({ key }) => key),
      );
      const entries = [];
      for (const entry of found) {
        const device = devices.get(entry.key);
        const holds = device?.site === site;
        if (!holds) {
          onStaleIndex('device_site');
          if (isOldEnough(entry, clock())) await index.remove(site, entry);
        }
        entries.push({ key: entry.key, row: holds ? device : null });
      }
      return entries;
    };

  return {
    /** A page before the end may have fewer than `limit` devices. */
    read({
      site,
      accept,
      after,
      limit,
    }: {
      site?: string;
      /** null: all devices */
      accept: ((device: IdentifiedDevice) => boolean) | null;
      after: DevicePlace | null;
      limit: number;
    }): Promise<{ rows: IdentifiedDevice[]; next: DevicePlace | null }> {
      const source = site === undefined ? readAll : readSite(site);
      return iterateGroups({
        groups,
        from: after ?? { group: 0 },
        limit,
        checked: accept !== null,
        read: async (place, wanted) =>
          (await source(place, wanted)).map(({ key, row }) => ({
            key,
            row: row && (accept === null || accept(row)) ? row : null,
          })),
      });
    },
  };
}

const idOf = (row: Row) => uuidText(row['device_id'].getBuffer());

/** A retirement, or a late write of status or `last_seen`, leaves a row without a registration. */
const registered = (row: Row): IdentifiedDevice | null =>
  row['registered_at'] ? { ...deviceRow(row), id: idOf(row) } : null;

/** A page that reaches the limit is short. So pages of a large, mostly empty fleet stay fast. */
const MAX_READS_PER_PAGE = 32;

/** For pages with filtered rows. A page that reaches the limit is short. */
const MAX_FILTERED_PER_PAGE = 1000;

/** Without this minimum, a filtered page with one missing row would read one key per request. */
const FILTERED_PER_READ = 100;

/** A key instead of the driver's page state, so the position never expires. Without `key`: before the first key of the group */
export type Place<K> = { group: number; key?: K };

/** `row` is null if the row does not belong in the page. */
export type Entry<R, K> = { key: K; row: R | null };

/** Reads group by group, and each group in order of its keys, so that every row is returned once. @returns `next` is null at the end */
export async function iterateGroups<R, K>({
  groups,
  from,
  limit,
  checked,
  read,
}: {
  groups: number;
  from: Place<K>;
  /** rows; a page before the end may be short */
  limit: number;
  /** rows are filtered: then more rows may be read than returned */
  checked: boolean;
  /** returns the entries after `place.key` in order; fewer than `wanted` at the end of the group */
  read: (place: Place<K>, wanted: number) => Promise<Array<Entry<R, K>>>;
}): Promise<{ rows: R[]; next: Place<K> | null }> {
  const rows: R[] = [];
  let place = from;
  let budget = checked ? MAX_FILTERED_PER_PAGE : limit;
  for (let reads = 0; reads < MAX_READS_PER_PAGE && budget > 0; reads++) {
    const missing = limit - rows.length;
    const wanted = Math.min(checked ? Math.max(missing, FILTERED_PER_READ) : missing, budget);
    const entries = await read(place, wanted);
    const { group } = place;
    for (const { key, row } of entries) {
      if (row === null) continue;
      if (rows.length === limit) return { rows, next: place };
      rows.push(row);
      place = { group, key };
    }
    budget -= entries.length;
    if (entries.length === wanted) place = { group, key: entries.at(-1)?.key };
    else if (group + 1 < groups) place = { group: group + 1 };
    else return { rows, next: null };
    if (rows.length === limit) break;
  }
  return { rows, next: place };
}

const SELECT_BY_SITE =
  'SELECT device_id, written_at, WRITETIME(written_at) AS stamp FROM device_by_site WHERE site = ? AND grp = ?';
const FIRST_BY_SITE = { name: 'devices_by_site', cql: `${SELECT_BY_SITE} LIMIT ?` };
const NEXT_BY_SITE = { name: 'devices_by_site', cql: `${SELECT_BY_SITE} AND device_id > ? LIMIT ?` };
const REMOVE = {
  name: 'unindex_device',
  cql: 'DELETE FROM device_by_site USING TIMESTAMP ? WHERE site = ? AND grp = ? AND device_id = ?',
};

interface IndexEntry {
  group: number;
  key: string;
  /** epoch ms by the clock of the process that wrote the row */
  writtenAt: number;
  /** epoch µs */
  writeTimestamp: DriverTypes.Long;
}

export function createDeviceIndex(session: Session) {
  return {
    async after(site: string, { group, key }: Place<string>, limit: number): Promise<IndexEntry[]> {
      const rows =
        key === undefined
          ? await session.all(FIRST_BY_SITE, [site, group, limit])
          : await session.all(NEXT_BY_SITE, [site, group, uuidBytes(key), limit]);
      return rows.map((row) => ({
        group,
        key: uuidText(row['device_id'].getBuffer()),
        writtenAt: row['written_at'].getTime(),
        writeTimestamp: row['stamp'],
      }));
    },

    /** The removal has the write timestamp of the row that was read, so a newer row of the device survives. */
    remove: (site: string, { group, key, writeTimestamp }: IndexEntry) =>
      session.write(REMOVE, [writeTimestamp, site, group, uuidBytes(key)]),
  };
}

/** In ms. A younger stale row may belong to a registration that is still in progress. */
const STALE_AFTER_MS = 600_000;

export const isOldEnough = ({ writtenAt }: { writtenAt: number }, now: number) =>
  now - writtenAt >= STALE_AFTER_MS;
