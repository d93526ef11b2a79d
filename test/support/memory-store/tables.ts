import { DIALECTS, readMigrations, statementsOf } from '../../../schema/migrate/files.js';
import { valueType } from './values.js';

/** @import { ValueType } from './values.js' */

/**
 * A table as the migrations define it.
 *
 * @typedef {object} Table
 * @property {string} name
 * @property {Map<string, ValueType>} columns
 * @property {string[]} partition columns of its key
 * @property {Array<{ column: string, type: ValueType, sign: 1 | -1 }>} clustering `sign`: -1 for descending order
 * @property {Set<string>} statics columns that the rows of a partition share
 * @property {number} ttlSeconds default TTL; 0: none
 */

/**
 * @param {Record<string, number>} days retention, by the name of its setting
 * @returns {Promise<Map<string, Table>>} all tables of the newest schema
 */
export async function readTables(days) {
  /** @type {Map<string, Table>} */
  const tables = new Map();
  for (const migration of await readMigrations()) {
    for (const statement of statementsOf(migration, days, DIALECTS.cassandra)) {
      const added = /^ALTER TABLE (\w+) ADD (\w+) (.+)$/s.exec(statement);
      if (added) {
        const [, table, column, type] = /** @type {string[]} */ (/** @type {unknown} */ (added));
        tables.get(String(table))?.columns.set(String(column), valueType(String(type)));
        continue;
      }
      // The database in memory has no compaction.
      if (/^ALTER TABLE \w+ WITH /.test(statement)) continue;
      const table = readTable(statement);
      tables.set(table.name, table);
    }
  }
  return tables;
}

/** @param {string} statement @returns {Table} */
function readTable(statement) {
  const match = /^CREATE TABLE IF NOT EXISTS (\w+) \((.*?)\n\)(.*)$/s.exec(statement);
  if (!match) throw new RangeError(`the database in memory does not understand ${statement}`);
  const [, name = '', body = '', options = ''] = match;
  const columns = new Map();
  /** @type {Set<string>} */
  const statics = new Set();
  let key = '';
  for (const line of body.split(/,\n/)) {
    const [column, ...rest] = line.trim().split(' ');
    const type = rest.join(' ');
    if (column === 'PRIMARY') {
      key = line.slice(line.indexOf('(') + 1, line.lastIndexOf(')'));
      continue;
    }
    if (type.endsWith(' static')) statics.add(String(column));
    columns.set(column, valueType(type.replace(/ (PRIMARY KEY|static)$/, '')));
    if (type.endsWith(' PRIMARY KEY')) key = String(column);
  }
  const [, composite, rest] = /^(?:\(([^)]*)\)|\w+)(.*)$/.exec(key) ?? [];
  const partition = composite ? namesOf(composite) : [String(/^\w+/.exec(key))];
  const clustering = namesOf(rest ?? '').map((column) => ({
    column,
    type: /** @type {ValueType} */ (columns.get(column)),
    sign: /** @type {1 | -1} */ (new RegExp(`[( ]${column} DESC`).test(options) ? -1 : 1),
  }));
  const ttlSeconds = Number(/default_time_to_live = (\d+)/.exec(options)?.[1] ?? 0);
  return { name, columns, partition, clustering, statics, ttlSeconds };
}

/** @param {string} list */
const namesOf = (list) =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
