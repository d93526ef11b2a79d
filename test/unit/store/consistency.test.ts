import { expect, test } from '@jest/globals';
import type { Client } from 'cassandra-driver';
import cassandra from 'cassandra-driver';
import { createClient } from '../../../api/store/client.ts';
import { levelsEverywhere } from '../../../api/store/consistency.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { DIALECTS } from '../../../schema/migrate/files.ts';

const { all, eachQuorum } = cassandra.types.consistencies;

function clientOf(settings: Record<string, string>, copies: Record<string, string>): Client {
  const { cql } = readSettings(settings, { envFile: '' });
  const client = createClient(cql, { keyspace: cql.keyspace });
  Object.assign(client.metadata, { keyspaces: { [cql.keyspace]: { strategyOptions: copies } } });
  return client;
}

const levelsOf = (client: Client, dialect: keyof typeof DIALECTS = 'cassandra') => {
  const { read, write } = levelsEverywhere(client, DIALECTS[dialect]);
  return { read: read(), write: write() };
};

test('Consistency levels: keyspace in two data centers: reads that must be complete ask a quorum of each', () => {
  const client = clientOf({}, { dc1: '3', dc2: '3' });
  expect(levelsOf(client)).toEqual({ read: eachQuorum, write: eachQuorum });
});

test('Consistency levels: ScyllaDB has no reads at EACH_QUORUM: they ask all replicas', () => {
  const client = clientOf({}, { dc1: '3', dc2: '3' });
  expect(levelsOf(client, 'scylla')).toEqual({ read: all, write: eachQuorum });
});

test.each([
  ['keyspace in one data center', {}, { dc1: '3' }],
  ['no copies in the second data center', {}, { dc1: '3', dc2: '0' }],
  ['a level that includes other data centers', { CQL_CONSISTENCY: 'QUORUM' }, { dc1: '3', dc2: '3' }],
])('Consistency levels: %s: the level of the settings', (_, settings, copies) => {
  expect(levelsOf(clientOf(settings, copies))).toEqual({ read: undefined, write: undefined });
});

test('Consistency levels: the replication changes while a process runs: the next request follows', () => {
  const client = clientOf({}, { dc1: '3' });
  const { read } = levelsEverywhere(client, DIALECTS.cassandra);
  expect(read()).toBeUndefined();
  Object.assign(client.metadata, { keyspaces: { iot: { strategyOptions: { dc1: '3', dc2: '3' } } } });
  expect(read()).toBe(eachQuorum);
});

test('Lightweight transactions: any keyspace: all data centers with copies agree', () => {
  const { options } = clientOf({}, { dc1: '3' }) as unknown as {
    options: { queryOptions: { serialConsistency: number } };
  };
  expect(options.queryOptions.serialConsistency).toBe(cassandra.types.consistencies.serial);
});
