import { uuidBytes } from '../../../schema/ids.js';
import { sensorKey } from './latest-rows.js';

/** @import { types } from 'cassandra-driver' */
/** @import { Session, Statement } from '../sending/session.js' */
/** @import { SensorKey } from './latest-rows.js' */
/** @import { Place } from './group-iterator.js' */

/** The greatest code point. A prefix followed by it sorts after every name with this prefix, and so ends the range of a search. */
const MAX_CODE_POINT = '\u{10ffff}';

const COLUMNS = 'device_id, sensor_id, written_at, WRITETIME(written_at) AS stamp';

/** @typedef {'type' | 'site' | 'name'} IndexKind */

/**
 * A position in an index. The index by name is sorted by name, so `name` is part of the position.
 *
 * @typedef {SensorKey & { name?: string }} IndexKey
 */

/**
 * One row of an index.
 *
 * @typedef {object} IndexEntry
 * @property {number} group
 * @property {IndexKey} key
 * @property {string} term the type, site or whole name of the sensor in the index
 * @property {number} writtenAt epoch ms by the clock of the process that wrote the row
 * @property {types.Long} writeTimestamp epoch µs
 */

/**
 * Creates the store of the three index tables of sensors: by type, by site, and by name.
 *
 * @param {Session} session
 */
export function createSensorIndex(session) {
  return {
    /**
     * @param {IndexKind} kind
     * @param {string} term a type, a site, or the prefix of a name
     * @param {Place<IndexKey>} place
     * @param {number} limit
     * @returns {Promise<IndexEntry[]>} the first rows of the group after `place`, in the order of the index
     */
    async after(kind, term, { group, key }, limit) {
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

    /**
     * Removes a row. The removal has the write timestamp of the row that was read, so a newer row of the same key survives.
     *
     * @param {IndexKind} kind
     * @param {IndexEntry} entry
     */
    remove: (kind, { group, key, term, writeTimestamp }) =>
      session.write(TABLES[kind].remove, [
        writeTimestamp,
        ...(kind === 'name' ? [group, term] : [term, group]),
        uuidBytes(key.device),
        uuidBytes(key.sensor),
      ]),
  };
}

/** @typedef {ReturnType<typeof createSensorIndex>} SensorIndex */

/**
 * The statements of one index table: the first page, the next page, and the removal of a row.
 *
 * @typedef {object} Table
 * @property {Statement} first
 * @property {Statement} next
 * @property {Statement} remove
 * @property {(term: string, group: number) => unknown[]} firstParams
 * @property {(term: string, group: number, after: IndexKey) => unknown[]} nextParams
 */

/** @param {'type' | 'site'} column @returns {Table} */
const tableOf = (column) => ({
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

/** @type {Record<IndexKind, Table>} */
const TABLES = {
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
