import { uuidBytes } from '../../../schema/ids.js';
import { sensorKey } from './latest-rows.js';

/** @import { types } from 'cassandra-driver' */
/** @import { Session, Statement } from '../session.js' */
/** @import { SensorKey } from './latest-rows.js' */
/** @import { Place } from './group-iterator.js' */

/** The greatest code point: every name that begins with X lies between X and X followed by it. */
const AFTER_ALL = '\u{10ffff}';

const COLUMNS = 'device_id, sensor_id, written_at, WRITETIME(written_at) AS stamp';

/** @typedef {'type' | 'site' | 'name'} IndexKind */

/**
 * Where the reading of an index has come to; by name the name belongs to it.
 *
 * @typedef {SensorKey & { name?: string }} IndexKey
 */

/**
 * One row of an index.
 *
 * @typedef {object} IndexEntry
 * @property {number} group
 * @property {IndexKey} key
 * @property {string} term the type, site or whole name that the sensor has according to the index
 * @property {number} writtenAt epoch ms by the clock of the process that wrote it
 * @property {types.Long} stamp epoch µs, the row's own timestamp in the database
 */

/**
 * The three tables that find sensors by what they are.
 *
 * @param {Session} session
 */
export function createSensorIndex(session) {
  return {
    /**
     * @param {IndexKind} kind
     * @param {string} term a type or site; by name a beginning
     * @param {Place<IndexKey>} place
     * @param {number} limit
     * @returns {Promise<IndexEntry[]>} in order
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
        stamp: row['stamp'],
      }));
    },

    /**
     * Removes a row. The removal bears the stamp of the row as it was read, so that a newer one of the same key survives.
     *
     * @param {IndexKind} kind
     * @param {IndexEntry} entry
     */
    remove: (kind, { group, key, term, stamp }) =>
      session.write(TABLES[kind].remove, [
        stamp,
        ...(kind === 'name' ? [group, term] : [term, group]),
        uuidBytes(key.device),
        uuidBytes(key.sensor),
      ]),
  };
}

/** @typedef {ReturnType<typeof createSensorIndex>} SensorIndex */

/**
 * How a reading of a table begins and goes on, and how a row of it is removed.
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
    firstParams: (term, group) => [group, term, term + AFTER_ALL],
    nextParams: (term, group, { name, device, sensor }) => [
      group,
      name,
      uuidBytes(device),
      uuidBytes(sensor),
      term + AFTER_ALL,
    ],
  },
};
