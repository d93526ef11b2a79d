import type { types } from 'cassandra-driver';
import { type DeviceBytes, uuidBytes } from '../../../schema/ids.ts';
import type { DeviceKey } from '../registry/rows.ts';
import type { Session, Statement } from '../sending/session.ts';
import { type Entry, isOldEnough, iterateGroups, type Place } from './device-pages.ts';
import {
  isRegistered,
  keyText,
  type LatestRow,
  type LatestRows,
  type SensorKey,
  sensorKey,
} from './latest-rows.ts';

export type LatestPlace = Place<IndexKey>;

/** Reads the whole fleet or one device from the table `sensor`, and the sensors of a type, a site or a name prefix by an index. */
export function createLatestPages({
  latest,
  index,
  groups,
  clock,
  onStaleIndex,
}: {
  latest: LatestRows;
  index: SensorIndex;
  groups: number;
  clock: () => number;
  /** called for each index row that the table `sensor` contradicts */
  onStaleIndex: (kind: IndexKind) => void;
}) {
  async function readAll(place: LatestPlace, wanted: number) {
    const rows = await latest.after(place, wanted);
    return rows.map((row) => ({ key: keyOf(row), row: isRegistered(row) ? row : null }));
  }

  const readIndexed =
    (
      kind: IndexKind,
      term: string,
      filter: SensorFilter,
    ): ((place: LatestPlace, wanted: number) => Promise<Array<Entry<LatestRow, IndexKey>>>) =>
    async (place, wanted) => {
      const found = await index.after(kind, term, place, wanted);
      const rows = await latest.byKeys(
        place.group,
        found.map(({ key }) => key),
      );
      const entries = [];
      for (const entry of found) {
        const row = rows.get(keyText(entry.key));
        const holds = row !== undefined && isRegistered(row) && row[kind] === entry.term;
        if (!holds) await removeStale(kind, entry);
        entries.push({ key: entry.key, row: holds && matches(row, filter) ? row : null });
      }
      return entries;
    };

  async function removeStale(kind: IndexKind, entry: IndexEntry) {
    onStaleIndex(kind);
    if (isOldEnough(entry, clock())) await index.remove(kind, entry);
  }

  const readDevice =
    (
      device: DeviceBytes,
      filter: SensorFilter,
    ): ((place: LatestPlace, wanted: number) => Promise<Array<Entry<LatestRow, IndexKey>>>) =>
    async (place, wanted) => {
      const rows = await latest.ofDeviceAfter(device, place, wanted);
      return rows.map((row) => ({
        key: keyOf(row),
        row: isRegistered(row) && matches(row, filter) ? row : null,
      }));
    };

  return {
    /** All sensors of a device are one slice of a partition, so it is read without an index and compared with the filter. */
    readDevice: (
      { group, bytes }: DeviceKey,
      { filter, after, limit }: { filter: SensorFilter; after: LatestPlace | null; limit: number },
    ): Promise<{ rows: LatestRow[]; next: LatestPlace | null }> =>
      iterateGroups({
        groups: group + 1,
        from: after ?? { group },
        limit,
        checked: conditions(filter) > 0,
        read: readDevice(bytes, filter),
      }),

    /** @param end the first group that is not read @returns a page before the end may have fewer rows than `limit` */
    read(
      { filter, after, limit }: { filter: SensorFilter; after: LatestPlace | null; limit: number },
      end: number = groups,
    ): Promise<{ rows: LatestRow[]; next: LatestPlace | null }> {
      const by = narrowest(filter);
      return iterateGroups({
        groups: end,
        from: after ?? { group: 0 },
        limit,
        checked: conditions(filter) > 1,
        read: by ? readIndexed(by.kind, by.term, filter) : readAll,
      });
    },
  };
}

const keyOf = (row: LatestRow) => ({ device: row.deviceId, sensor: row.id });

type SensorFilter = { type?: string; site?: string; name?: string };

export const matches = (row: LatestRow, { type, site, name }: SensorFilter) =>
  (type === undefined || row.type === type) &&
  (site === undefined || row.site === site) &&
  (name === undefined || (row.name ?? '').startsWith(name));

export const conditions = (filter: SensorFilter): number =>
  Object.values(filter).filter((term) => term !== undefined).length;

/**
 * Chooses the index that is expected to match the fewest rows: first by name prefix, then by site, then by type.
 * @returns null: the filter has no condition
 */
export function narrowest({ type, site, name }: SensorFilter): { kind: IndexKind; term: string } | null {
  if (name !== undefined) return { kind: 'name', term: name };
  if (site !== undefined) return { kind: 'site', term: site };
  if (type !== undefined) return { kind: 'type', term: type };
  return null;
}

/** A prefix followed by the greatest code point sorts after every name with this prefix, and so ends the range of a search. */
const MAX_CODE_POINT = '\u{10ffff}';

const COLUMNS = 'device_id, sensor_id, written_at, WRITETIME(written_at) AS stamp';

export type IndexKind = 'type' | 'site' | 'name';

/** The index by name is sorted by name, so `name` is part of the position. */
export type IndexKey = SensorKey & { name?: string };

export interface IndexEntry {
  group: number;
  key: IndexKey;
  term: string;
  /** epoch ms by the clock of the process that wrote the row */
  writtenAt: number;
  /** epoch µs */
  writeTimestamp: types.Long;
}

export function createSensorIndex(session: Session) {
  return {
    /** @param term a type, a site, or the prefix of a name */
    async after(
      kind: IndexKind,
      term: string,
      { group, key }: Place<IndexKey>,
      limit: number,
    ): Promise<IndexEntry[]> {
      const { first, next, firstParams, nextParams } = TABLES[kind];
      const rows = key
        ? await session.all(next, [...nextParams(term, group, key), limit])
        : await session.all(first, [...firstParams(term, group), limit]);
      return rows.map((row) => ({
        group,
        key: kind === 'name' ? { ...sensorKey(row), name: row['name'] } : sensorKey(row),
        term: kind === 'name' ? row['name'] : term,
        writtenAt: row['written_at'].getTime(),
        writeTimestamp: row['stamp'],
      }));
    },

    /** The removal has the write timestamp of the row that was read, so a newer row of the same key survives. */
    remove: (kind: IndexKind, { group, key, term, writeTimestamp }: IndexEntry) =>
      session.write(TABLES[kind].remove, [
        writeTimestamp,
        ...(kind === 'name' ? [group, term] : [term, group]),
        uuidBytes(key.device),
        uuidBytes(key.sensor),
      ]),
  };
}

export type SensorIndex = ReturnType<typeof createSensorIndex>;

interface Table {
  first: Statement;
  next: Statement;
  remove: Statement;
  firstParams: (term: string, group: number) => unknown[];
  nextParams: (term: string, group: number, after: IndexKey) => unknown[];
}

const tableOf = (column: 'type' | 'site'): Table => ({
  first: {
    name: `by_${column}`,
    cql: `SELECT ${COLUMNS} FROM sensor_by_${column} WHERE ${column} = ? AND grp = ? LIMIT ?`,
  },
  next: {
    name: `by_${column}`,
    cql: `SELECT ${COLUMNS} FROM sensor_by_${column} WHERE ${column} = ? AND grp = ? AND (device_id, sensor_id) > (?, ?) LIMIT ?`,
  },
  remove: {
    name: `unindex_${column}`,
    cql: `DELETE FROM sensor_by_${column} USING TIMESTAMP ? WHERE ${column} = ? AND grp = ? AND device_id = ? AND sensor_id = ?`,
  },
  firstParams: (term, group) => [term, group],
  nextParams: (term, group, { device, sensor }) => [term, group, uuidBytes(device), uuidBytes(sensor)],
});

const TABLES: Record<IndexKind, Table> = {
  type: tableOf('type'),
  site: tableOf('site'),
  name: {
    first: {
      name: 'by_name',
      cql: `SELECT name, ${COLUMNS} FROM sensor_by_name WHERE grp = ? AND name >= ? AND name < ? LIMIT ?`,
    },
    next: {
      name: 'by_name',
      cql: `SELECT name, ${COLUMNS} FROM sensor_by_name WHERE grp = ? AND (name, device_id, sensor_id) > (?, ?, ?) AND (name) < (?) LIMIT ?`,
    },
    remove: {
      name: 'unindex_name',
      cql: 'DELETE FROM sensor_by_name USING TIMESTAMP ? WHERE grp = ? AND name = ? AND device_id = ? AND sensor_id = ?',
    },
    firstParams: (term, group) => [group, term, term + MAX_CODE_POINT],
    nextParams: (term, group, { name, device, sensor }) => [
      group,
      name,
      uuidBytes(device),
      uuidBytes(sensor),
      term + MAX_CODE_POINT,
    ],
  },
};
