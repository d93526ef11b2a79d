import { expect, test } from '@jest/globals';
import { changeSchema, createFirst } from '../../../../schema/migrate/cluster.ts';

/**
 * Simulates a client of three nodes. The third node learns of the first tables only after some checks.
 * @param notified schema versions that the third node reports, check by check; null: no answer
 * @param addresses connected nodes
 */
function clientOf(notified: (string | null)[], addresses: string[] = ['10.0.0.3', '10.0.0.1', '10.0.0.2']) {
  const asked: string[] = [];
  const client = {
    getState: () => ({ getConnectedHosts: () => addresses.map((address) => ({ address })) }),
    execute: async (cql: string, _: unknown[], { host }: { host: { address: string } }) => {
      const address = host?.address ?? 'any';
      asked.push(`${address} ${cql}`);
      const version = address === '10.0.0.3' && cql.startsWith('SELECT') ? notified.shift() : 'new';
      if (version === null) throw new Error('no answer');
      return { first: () => ({ schema_version: version }) };
    },
    // The driver reports false while a node is down.
    metadata: { checkSchemaAgreement: async () => false },
  };
  return { client: client as never, asked };
}

const CREATE = 'CREATE TABLE IF NOT EXISTS first (id int PRIMARY KEY)';

test('Schema agreement: one node creates the first tables: creation waits until all running nodes agree on the schema', async () => {
  const { client, asked } = clientOf(['old', null, 'new']);
  await createFirst(client, 'k', [CREATE]);
  expect(asked[0]).toBe('10.0.0.1 CREATE TABLE IF NOT EXISTS k.first (id int PRIMARY KEY)');
  expect(asked.filter((one) => one.startsWith('10.0.0.3'))).toHaveLength(3);
});

test('Schema agreement: the only node does not answer at first: creation of the tables waits until the node answers', async () => {
  const { client, asked } = clientOf([null, 'new'], ['10.0.0.3']);
  await createFirst(client, 'k', [CREATE]);
  expect(asked).toHaveLength(3);
});

test('Schema agreement: ALTER TABLE: changeSchema() resolves once all running nodes agree on the schema', async () => {
  const { client, asked } = clientOf(['old', null, 'new']);
  await changeSchema(client, 'ALTER TABLE first ADD more int');
  expect(asked[0]).toBe('any ALTER TABLE first ADD more int');
  expect(asked.filter((one) => one.startsWith('10.0.0.3'))).toHaveLength(3);
});
