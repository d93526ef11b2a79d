import { DIALECTS, readMigrations, statementsOf } from '../../../schema/migrate/files.ts';
import { type ValueType, valueType } from './values.ts';

export interface Table {
  name: string;
  columns: Map<string, ValueType>;
  partition: string[];
  /** `sign`: -1 for descending order */
  clustering: Array<{ column: string; type: ValueType; sign: 1 | -1 }>;
  /** columns that the rows of a partition share */
  statics: Set<string>;
  /** default TTL; 0: none */
  ttlSeconds: number;
}

/** @param days retention, by the name of its setting @returns all tables of the newest schema */
export async function readTables(days: Record<string, number>): Promise<Map<string, Table>> {
  const tables: Map<string, Table> = new Map();
  for (const migration of await readMigrations()) {
    for (const statement of statementsOf(migration, days, DIALECTS.cassandra)) {
      const added = /^ALTER TABLE (\w+) ADD (\w+) (.+)$/s.exec(statement);
      if (added) {
        const [, table, column, type] = added as unknown as string[];
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

function readTable(statement: string): Table {
  const match = /^CREATE TABLE IF NOT EXISTS (\w+) \((.*?)\n\)(.*)$/s.exec(statement);
  if (!match) throw new RangeError(`the database in memory does not understand ${statement}`);
  const [, name = '', body = '', options = ''] = match;
  const columns = new Map();
  const statics: Set<string> = new Set();
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
    type: columns.get(column) as ValueType,
    sign: (new RegExp(`[( ]${column} DESC`).test(options) ? -1 : 1) as 1 | -1,
  }));
  const ttlSeconds = Number(/default_time_to_live = (\d+)/.exec(options)?.[1] ?? 0);
  return { name, columns, partition, clustering, statics, ttlSeconds };
}

const namesOf = (list: string) =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
