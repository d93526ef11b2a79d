import { expect, test } from '@jest/globals';
import type { SentRecord } from '../../support/query-rules/record.ts';
import { violations } from '../../support/query-rules/rules.ts';

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
