import { readdir, readFile } from 'node:fs/promises';
import { messageOf } from '../../common/errors.ts';
import { checkWindow, windowFor } from '../time-window.ts';

const FOLDER = new URL('../migrations/', import.meta.url);

interface Migration {
  /** from the file's name, counting from 1 without a gap */
  version: number;
  name: string;
  /** has placeholders: `${window(SETTING)}` for a table's TTL and compaction, `${keepTombstones}` of the dialect */
  text: string;
}

/** CQL that differs between Cassandra and ScyllaDB. */
export interface Dialect {
  /** lets compaction drop expired data early */
  dropTombstones: string;
  /** for a table with deletions: keeps tombstones until each replica has received them */
  keepTombstones: string;
  /** the end of a SELECT whose many rows would displace other rows from the row cache */
  pastCache: string;
  /** whether reads may be at EACH_QUORUM */
  readsEachQuorum: boolean;
}

export const DIALECTS: Record<'scylla' | 'cassandra', Dialect> = {
  scylla: {
    dropTombstones: "tombstone_gc = {'mode': 'immediate'}",
    keepTombstones: "tombstone_gc = {'mode': 'timeout'} AND gc_grace_seconds = 864000",
    pastCache: ' BYPASS CACHE',
    readsEachQuorum: false,
  },
  cassandra: {
    // gc_grace_seconds also limits how long nodes keep hints. With 0 there would be no hints, so it is one day.
    dropTombstones: 'gc_grace_seconds = 86400',
    keepTombstones: 'gc_grace_seconds = 864000',
    pastCache: '',
    readsEachQuorum: true,
  },
};

export async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.cql')).sort();
  const migrations = await Promise.all(
    names.map(async (name) => ({
      version: Number(name.slice(0, 3)),
      name,
      text: await readFile(new URL(name, FOLDER), 'utf8'),
    })),
  );
  migrations.forEach(({ version, name }, at) => {
    if (version !== at + 1) throw new RangeError(`${name} should have the number ${at + 1}`);
  });
  return migrations;
}

/** @param days retention by name in the placeholders @throws {RangeError} when a statement breaks a rule of time-window compaction */
export function statementsOf(
  { name, text }: Migration,
  days: Record<string, number>,
  dialect: Dialect,
): string[] {
  return text
    .replaceAll(/^\s*--.*$/gm, '')
    .replaceAll(/\$\{window\((\w+)\)\}/g, (_, setting) => {
      const retention = days[setting];
      if (retention === undefined) throw new RangeError(`${name}: no retention is called ${setting}`);
      return windowOptions(retention, dialect);
    })
    .replaceAll(/\$\{keepTombstones\}/g, dialect.keepTombstones)
    .split(';')
    .map((statement) => statement.trim())
    .filter(Boolean)
    .map((statement) => checked(statement, name));
}

export function windowOptions(retentionDays: number, { dropTombstones }: Dialect): string {
  return `${retentionOptions(retentionDays)}\n  AND ${dropTombstones}`;
}

export function retentionOptions(retentionDays: number): string {
  const { ttlSeconds, windowDays } = windowFor(retentionDays);
  return [
    `default_time_to_live = ${ttlSeconds}`,
    `compaction = {'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': 'DAYS', 'compaction_window_size': ${windowDays}}`,
  ].join('\n  AND ');
}

/** @returns the unchanged statement @throws {RangeError} when it breaks a rule of time-window compaction */
function checked(statement: string, name: string): string {
  if (!statement.includes('TimeWindowCompactionStrategy')) return statement;
  const ttlSeconds = Number(/default_time_to_live\s*=\s*(\d+)/.exec(statement)?.[1] ?? 0);
  const unit = /'compaction_window_unit'\s*:\s*'(\w+)'/.exec(statement)?.[1];
  const size = Number(/'compaction_window_size'\s*:\s*'?(\d+)/.exec(statement)?.[1] ?? 0);
  const unitDays = { MINUTES: 1 / 1440, HOURS: 1 / 24, DAYS: 1 }[unit ?? ''] ?? 0;
  try {
    checkWindow({ ttlSeconds, windowDays: size * unitDays });
  } catch (error) {
    throw new RangeError(`${name}: ${messageOf(error)}`);
  }
  return statement;
}
