import { describe, expect, test } from '@jest/globals';
import { DIALECTS, readMigrations, statementsOf } from '../../../schema/migrate/files.ts';
import {
  BASELINE_DAYS,
  DEAD_LETTER_DAYS,
  LATE_DAY_DAYS,
  MIN_BATCH_DAYS,
  STREAM_NOTE_DAYS,
} from '../../../schema/rules.ts';
import { statementsOf as statementsIn } from '../../support/query-rules/statements.ts';

const migrations = await readMigrations();

/** Tables from which the store deletes. */
const withDeletions = new Set(
  statementsIn(['api/store', 'api/features']).flatMap(
    ({ cql }) => /^DELETE .*?FROM (\w+)/.exec(cql)?.[1] ?? [],
  ),
);

/** The default of both servers, in s. */
const TEN_DAYS = 864_000;

/** @param days retention that the settings define */
const statements = (days: number, server: keyof typeof DIALECTS) =>
  migrations.flatMap((migration) =>
    statementsOf(
      migration,
      {
        BATCH_DAYS: days,
        HISTORY_DAYS: days,
        DEAD_LETTER_DAYS,
        LATE_DAY_DAYS,
        BASELINE_DAYS,
        STREAM_NOTE_DAYS,
      },
      DIALECTS[server],
    ),
  );

/** @param options the options behind WITH */
const statementsWith = (options: string) =>
  statementsOf(
    { version: 1, name: '001-made-up.cql', text: `CREATE TABLE t (id int PRIMARY KEY) WITH ${options};` },
    {},
    DIALECTS.scylla,
  );

describe.each(['scylla', 'cassandra'])('Migrations on %s', (name) => {
  const server = name as keyof typeof DIALECTS;

  test.each([MIN_BATCH_DAYS, 30, 31, 365, 3650])(
    'Migrations: retention of %p days: all compaction windows are allowed',
    (days) => {
      expect(() => statements(days, server)).not.toThrow();
    },
  );

  test('Migrations: tables with a TTL: they use TimeWindowCompactionStrategy', () => {
    const expiring = statements(30, server).filter((statement) => statement.includes('default_time_to_live'));
    expect(expiring.length).toBeGreaterThan(0);
    for (const statement of expiring) expect(statement).toContain('TimeWindowCompactionStrategy');
  });

  test('Migrations: tables from which Millrace deletes rows: tombstones are kept for ten days or more', () => {
    expect([...withDeletions]).toEqual(expect.arrayContaining(['device', 'sensor', 'latest']));
    const all = statements(365, server);
    for (const table of withDeletions) {
      const options = all
        .filter((statement) => new RegExp(`TABLE (IF NOT EXISTS )?${table}\\b`).test(statement))
        .join(' AND ');
      // A later statement overrides the options of an earlier one.
      const mode = [...options.matchAll(/tombstone_gc = \{'mode': '(\w+)'/g)].at(-1)?.[1];
      const grace = [...options.matchAll(/gc_grace_seconds = (\d+)/g)].at(-1)?.[1] ?? TEN_DAYS;
      expect([table, mode]).not.toEqual([table, 'immediate']);
      expect([table, Number(grace) >= TEN_DAYS]).toEqual([table, true]);
    }
  });

  test('Migrations: all statements: no counter, secondary index, materialized view or ALLOW FILTERING', () => {
    for (const statement of statements(30, server)) {
      expect(statement).not.toMatch(
        /\bcounter\b|CREATE\s+(CUSTOM\s+)?INDEX|MATERIALIZED\s+VIEW|ALLOW\s+FILTERING/i,
      );
    }
  });
});

test.each([
  [
    '168 windows',
    "default_time_to_live = 604800 AND compaction = {'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': 'HOURS', 'compaction_window_size': 1}",
    /001-made-up.cql: .*168 windows/,
  ],
  [
    'no TTL',
    "compaction = {'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': 'DAYS', 'compaction_window_size': 1}",
    /001-made-up.cql: .*needs a TTL/,
  ],
  [
    'no window size',
    "default_time_to_live = 604800 AND compaction = {'class': 'TimeWindowCompactionStrategy'}",
    /001-made-up.cql/,
  ],
])('Migrations: TWCS with %s: an error is thrown before any statement is sent', (_, options, message) => {
  expect(() => statementsWith(options)).toThrow(message);
});

test('Migrations: a placeholder in a CQL file has an unknown retention: the error has the file and the retention', () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what stands in the files
  expect(() => statementsWith('${window(WEEKS)}')).toThrow(/001-made-up.cql: no retention is called WEEKS/);
});
