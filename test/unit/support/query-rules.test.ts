import { spawnSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { useDirectory } from '../../support/directory.ts';
import { checkQueryRules } from '../../support/query-rules/check.ts';
import type { SentRecord } from '../../support/query-rules/record.ts';
import { readRecords, recordingInto } from '../../support/query-rules/recording.ts';
import { unsent, unwritten, violations } from '../../support/query-rules/rules.ts';
import { statementsIn, statementsOf } from '../../support/query-rules/statements.ts';

const LOCAL_ONE = 10;
const LOCAL_QUORUM = 6;
const LOCAL_SERIAL = 9;
const SERIAL = 8;

const GOOD: SentRecord = {
  application: 'millrace',
  intended: 'LOCAL_QUORUM',
  statements: ['SELECT a FROM t WHERE b = ?'],
  batch: false,
  logged: false,
  prepared: true,
  idempotent: true,
  nulls: false,
  page: 100,
  consistency: LOCAL_QUORUM,
  serial: LOCAL_SERIAL,
  routed: true,
  partitions: 1,
};
const TRANSACTION = { ...GOOD, statements: ['INSERT INTO t (a) VALUES (?) IF NOT EXISTS'] };
const DDL = {
  ...GOOD,
  application: 'millrace-migrate',
  statements: ['CREATE TABLE t (a int PRIMARY KEY)'],
  prepared: false,
  idempotent: false,
  routed: false,
};

describe('Query rules: allowed', () => {
  test.each([
    ['a request that follows all rules', GOOD],
    ['a lightweight transaction that is not repeated', { ...TRANSACTION, idempotent: false }],
    ['a change of the schema by migrate', DDL],
    [
      'a query of a system table of the server',
      { ...GOOD, statements: ['SELECT now() FROM system.local'], routed: false },
    ],
    [
      'the consistency level of CQL_CONSISTENCY, if it is not LOCAL_QUORUM',
      { ...GOOD, intended: 'LOCAL_ONE', consistency: LOCAL_ONE },
    ],
    ['any request of a test', { ...GOOD, application: 'test', prepared: false }],
  ])('Query rules: %s: no violation is reported', (_, record) => {
    expect(violations([record])).toEqual([]);
  });

  test.each([
    ['not prepared', { prepared: false }],
    ['not paged', { page: 0 }],
    ['not paged', { page: 1_000_000 }],
    ['ALLOW FILTERING', { statements: ['SELECT a FROM t WHERE c = ? allow  filtering'] }],
    ['not at the consistency level of CQL_CONSISTENCY', { consistency: LOCAL_ONE }],
    ['a lightweight transaction beyond the data center', { ...TRANSACTION, serial: SERIAL }],
    ['not idempotent', { idempotent: false }],
    ['sent to any node instead of a replica', { routed: false }],
    ['a logged batch', { batch: true, logged: true }],
    ['a batch of more partitions than a Cassandra may allow', { batch: true, partitions: 65 }],
    ['a null, which is a tombstone', { nulls: true }],
    ['a change of the schema', { statements: ['DROP TABLE t'] }],
    ['not prepared', { ...DDL, statements: ['SELECT a FROM t'], idempotent: true, routed: true }],
  ])('Query rules: %s: a request with %j is reported with its statement', (rule, broken) => {
    const record = { ...GOOD, ...broken };
    expect(violations([GOOD, record])).toEqual([`${rule}: ${record.statements[0]}`]);
  });
});

describe('Query rules: statements of the sources', () => {
  const SOURCE = `
    const COLUMNS = 'a, b';
    const SELECT = 'SELECT a FROM t WHERE b = ?';
    const FIRST = { cql: \`\${SELECT} LIMIT ?\` };
    const ofTable = (column) => \`SELECT \${COLUMNS} FROM t_by_\${column} WHERE \${column} = ?\`;
    const LOCK = "UPDATE t SET owner = 'me' WHERE a = ?";
    throw new Error('SELECTED nothing');`;

  test('Query rules: a CQL statement is built from constants: the complete statement is found in the source', () => {
    expect(statementsIn(SOURCE)).toEqual([
      'SELECT a FROM t WHERE b = ? LIMIT ?',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: where a function puts a word in
      'SELECT a, b FROM t_by_${column} WHERE ${column} = ?',
      "UPDATE t SET owner = 'me' WHERE a = ?",
    ]);
  });

  test('Query rules: CQL statements of api/store: statements of all tables are found', () => {
    const tables = statementsOf(['api/store', 'api/features']).map(
      ({ cql }) => /(?:FROM|INTO|UPDATE) (\w+)/.exec(cql)?.[1],
    );
    expect(tables).toEqual(expect.arrayContaining(['latest', 'device', 'message', 'history', 'dead_letter']));
    expect(tables.length).toBeGreaterThan(40);
  });

  const written = statementsOf(['api/store', 'api/features']);

  test('Query rules: a statement of the source was never sent: it is reported with its file', () => {
    const [first, ...others] = written;
    const sent = others.map(({ cql }) => ({ ...GOOD, statements: [cql.replaceAll(/\$\{\w+\}/g, 'type')] }));
    expect(unsent(sent, written)).toEqual([`${first?.file}: ${first?.cql}`]);
  });

  test('Query rules: a sent statement contains a value instead of a placeholder: the statement is reported', () => {
    const record = { ...GOOD, statements: ["SELECT device_id FROM sensor_by_type WHERE type = 'x'"] };
    expect(unwritten([record, DDL], written)).toEqual(record.statements);
  });
});

describe('Query rules: a run', () => {
  const folder = useDirectory('cql');

  test('Query rules: a complete test run recorded no request: every statement of the source is reported', async () => {
    const { problems } = await checkQueryRules(folder, { complete: true });
    expect(problems.length).toBe(statementsOf(['api/store', 'api/features']).length);
    expect((await checkQueryRules(folder, { complete: false })).problems).toEqual([]);
  });

  test('Query rules: a process repeats requests and is killed: each kind of request is recorded once', async () => {
    const program = `
      import { channel } from 'node:diagnostics_channel';
      import { SENT_REQUESTS } from './api/store/driver-policies.ts';
      const options = {
        isPrepared: () => true, isIdempotent: () => true, isBatchLogged: () => false, isAutoPage: () => false,
        getFetchSize: () => 100, getConsistency: () => 6, getSerialConsistency: () => 9, getRoutingKey: () => Buffer.of(1),
      };
      const row = (partition) => ({
        query: 'INSERT INTO t (a) VALUES (?)',
        params: [Buffer.of(partition)],
        meta: { keyspace: 'k', table: 't', partitionKeys: [0] },
      });
      for (const query of [[row(1), row(1)], Array.from({ length: 65 }, (_, at) => row(at)), [row(3), row(3)]]) {
        channel(SENT_REQUESTS).publish({ application: 'millrace', intended: 'LOCAL_QUORUM', query, options });
      }
      process.kill(process.pid, 'SIGKILL');`;
    const env = { PATH: process.env['PATH'], ...recordingInto(folder) };
    const child = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
      env,
      encoding: 'utf8',
    });
    expect(child.stderr).toBe('');
    appendFileSync(join(folder, `${child.pid}.jsonl`), '{"half a li');
    const { records, processes } = await readRecords(folder);
    expect(processes).toBe(1);
    expect(records.map(({ partitions }) => partitions)).toEqual([1, 65]);
    expect(violations(records)).toEqual([
      'a batch of more partitions than a Cassandra may allow: INSERT INTO t (a) VALUES (?)',
    ]);
  });
});
