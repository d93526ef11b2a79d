import { expect, test } from '@jest/globals';
import { changeSchema, createFirst } from '../../../../schema/migrate/cluster.js';

/**
 * Stands in for a client of three nodes, one of which does not know the first tables for some checks.
 *
 * @param {(string | null)[]} notified by the third node, look by look: null does not answer
 * @param {string[]} [addresses] of the nodes that there is a connection to
 */
function clientOf(notified, addresses = ['10.0.0.3', '10.0.0.1', '10.0.0.2']) {
  /** @type {string[]} */
  const asked = [];
  const client = {
    getState: () => ({ getConnectedHosts: () => addresses.map((address) => ({ address })) }),
    execute: async (/** @type {string} */ cql, /** @type {unknown[]} */ _, /** @type {any} */ { host }) => {
      const address = host?.address ?? 'any';
      asked.push(`${address} ${cql}`);
      const version = address === '10.0.0.3' && cql.startsWith('SELECT') ? notified.shift() : 'new';
      if (version === null) throw new Error('no answer');
      return { first: () => ({ schema_version: version }) };
    },
    // As the driver reports while a node is away.
    metadata: { checkSchemaAgreement: async () => false },
  };
  return { client: /** @type {any} */ (client), asked };
}

const CREATE = 'CREATE TABLE IF NOT EXISTS first (id int PRIMARY KEY)';

test('Schema: first tables: one node makes them, and all nodes that are up agree', async () => {
  const { client, asked } = clientOf(['old', null, 'new']);
  await createFirst(client, 'k', [CREATE]);
  expect(asked[0]).toBe('10.0.0.1 CREATE TABLE IF NOT EXISTS k.first (id int PRIMARY KEY)');
  expect(asked.filter((one) => one.startsWith('10.0.0.3'))).toHaveLength(3);
});

test('Schema: a node is down: the others do not wait for it', async () => {
  const { client } = clientOf([], ['10.0.0.1', '10.0.0.2']);
  await expect(createFirst(client, 'k', [CREATE])).resolves.toBeUndefined();
});

test('Schema: the only node: it must answer', async () => {
  const { client, asked } = clientOf([null, 'new'], ['10.0.0.3']);
  await createFirst(client, 'k', [CREATE]);
  expect(asked).toHaveLength(3);
});

test('Schema: a change: settles when all nodes that are up agree on it', async () => {
  const { client, asked } = clientOf(['old', null, 'new']);
  await changeSchema(client, 'ALTER TABLE first ADD more int');
  expect(asked[0]).toBe('any ALTER TABLE first ADD more int');
  expect(asked.filter((one) => one.startsWith('10.0.0.3'))).toHaveLength(3);
});
