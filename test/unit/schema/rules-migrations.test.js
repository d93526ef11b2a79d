import { describe, expect, test } from '@jest/globals';
import { DIALECTS, readMigrations, statementsOf } from '../../../schema/migrate/files.js';
import {
  BASELINE_DAYS,
  DEAD_LETTER_DAYS,
  LATE_DAY_DAYS,
  MIN_BATCH_DAYS,
  STREAM_NOTE_DAYS,
} from '../../../schema/rules.js';
import { statementsOf as statementsIn } from '../../support/query-rules/statements.js';

const migrations = await readMigrations();

/** Tables from which the store deletes. */
const withDeletions = new Set(
  statementsIn(['api/store']).flatMap(({ cql }) => /^DELETE .*?FROM (\w+)/.exec(cql)?.[1] ?? []),
);

/** The default of both servers, in s. */
const TEN_DAYS = 864_000;

/** @param {number} days retention of what a setting decides @param {keyof typeof DIALECTS} server */
const statements = (days, server) =>
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

/** @param {string} options what stands behind WITH */
const statementsWith = (options) =>
  statementsOf(
    { version: 1, name: '001-made-up.cql', text: `CREATE TABLE t (id int PRIMARY KEY) WITH ${options};` },
    {},
    DIALECTS.scylla,
  );

describe.each(['scylla', 'cassandra'])('Migrations on %s', (name) => {
  const server = /** @type {keyof typeof DIALECTS} */ (name);

  test.each([MIN_BATCH_DAYS, 30, 31, 365, 3650])(
    'retention of %p days: the rules of windows hold',
    (days) => {
      expect(() => statements(days, server)).not.toThrow();
    },
  );

  test('Migrations: compaction: only whole windows expire', () => {
    const expiring = statements(30, server).filter((statement) => statement.includes('default_time_to_live'));
    expect(expiring.length).toBeGreaterThan(0);
    for (const statement of expiring) expect(statement).toContain('TimeWindowCompactionStrategy');
  });

  test('Migrations: deletions: a table that the store deletes from keeps them for ten days or more', () => {
    expect([...withDeletions]).toEqual(expect.arrayContaining(['annotation', 'alarm_delivery', 'device']));
    const all = statements(365, server);
    for (const table of withDeletions) {
      const options = all
        .filter((statement) => new RegExp(`TABLE (IF NOT EXISTS )?${table}\\b`).test(statement))
        .join(' AND ');
      // The last one counts.
      const mode = [...options.matchAll(/tombstone_gc = \{'mode': '(\w+)'/g)].at(-1)?.[1];
      const grace = [...options.matchAll(/gc_grace_seconds = (\d+)/g)].at(-1)?.[1] ?? TEN_DAYS;
      expect([table, mode]).not.toEqual([table, 'immediate']);
      expect([table, Number(grace) >= TEN_DAYS]).toEqual([table, true]);
    }
  });

  test('Migrations: features: none that one of the servers does badly', () => {
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
    'a window that is not named',
    "default_time_to_live = 604800 AND compaction = {'class': 'TimeWindowCompactionStrategy'}",
    /001-made-up.cql/,
  ],
])('Migrations: %s: fails before it is sent', (_, options, message) => {
  expect(() => statementsWith(options)).toThrow(message);
});

test('Migrations: an unknown retention: fails', () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what stands in the files
  expect(() => statementsWith('${window(WEEKS)}')).toThrow(/001-made-up.cql: no retention is called WEEKS/);
});
