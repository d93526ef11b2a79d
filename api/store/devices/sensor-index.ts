import type { types } from 'cassandra-driver';
import { uuidBytes } from '../../../schema/ids.ts';
import type { Session, Statement } from '../sending/session.ts';
import type { Place } from './group-iterator.ts';
import { type SensorKey, sensorKey } from './latest-rows.ts';

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
