import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../common/errors.js';
import { DIALECTS } from './files.js';

/**
 * DDL is neither prepared nor repeated blindly, and may take longer than any other request: a busy cluster has to agree on it.
 * In ms, and still less than the schema lock lasts.
 */
export const DDL = { prepare: false, isIdempotent: false, readTimeout: 30_000 };

/** @param {import('cassandra-driver').Client} client @returns {Promise<import('./files.js').Dialect>} */
export async function dialectOf(client) {
  const { rows } = await client.execute(
    "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'system' AND table_name = 'scylla_local'",
  );
  return rows.length > 0 ? DIALECTS.scylla : DIALECTS.cassandra;
}

/**
 * A new keyspace is replicated to three nodes, or to as many as there are; one that exists stays as its owner made it,
 * and is not asked for: that would take the right to make one.
 *
 * @param {import('cassandra-driver').Client} client
 * @param {string} keyspace
 */
export async function createKeyspace(client, keyspace) {
  const { rows } = await client.execute(
    'SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?',
    [keyspace],
  );
  if (rows.length > 0) return;
  const nodes = client.getState().getConnectedHosts().length;
  const peers = (await client.execute('SELECT peer FROM system.peers', [], { prepare: false })).rowLength;
  const replicas = Math.min(3, Math.max(nodes, peers + 1));
  await client.execute(
    `CREATE KEYSPACE IF NOT EXISTS ${keyspace} WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': ${replicas}}`,
    [],
    DDL,
  );
}

/** How long nodes may take to tell each other of a keyspace or a table, in ms. */
const AGREEMENT_MS = 60_000;

/**
 * A keyspace that another process makes at this moment is listed some ms before it can be used (Cassandra 5.0: in 40 of 40
 * tries), and longer on the other nodes.
 *
 * @param {() => Promise<import('cassandra-driver').Client>} open connects to it; fails with `schema_differs` where it is not there
 * @returns {Promise<import('cassandra-driver').Client>}
 */
export async function openKeyspace(open) {
  const deadline = Date.now() + AGREEMENT_MS;
  for (;;) {
    try {
      return await open();
    } catch (error) {
      const isMissing = error instanceof MillraceError && error.code === 'schema_differs';
      if (!isMissing || Date.now() > deadline) throw error;
    }
    await sleep(200);
  }
}

/**
 * Runs what comes before there is a lock, the same from many processes at once: Cassandra gives a table an id where it is
 * made, and two nodes that make the same one at once never agree on it again. So all go to one node, which lets one pass
 * after the other, and go on when the others know.
 *
 * @param {import('cassandra-driver').Client} client
 * @param {string[]} statements each with IF NOT EXISTS
 * @throws {MillraceError} `unavailable` when the nodes do not agree on the schema within a minute
 */
export async function createFirst(client, statements) {
  const host = client
    .getState()
    .getConnectedHosts()
    .sort((one, other) => (one.address < other.address ? -1 : 1))[0];
  for (const statement of statements) await client.execute(statement, [], { ...DDL, host });
  const deadline = Date.now() + AGREEMENT_MS;
  // In the driver and its documentation, but not in its types.
  const metadata = /** @type {{ checkSchemaAgreement: () => Promise<boolean> }} */ (
    /** @type {unknown} */ (client.metadata)
  );
  while (!(await metadata.checkSchemaAgreement())) {
    if (Date.now() > deadline) {
      throw new MillraceError(
        'unavailable',
        'The nodes of the database do not agree on its schema: see nodetool describecluster.',
      );
    }
    await sleep(200);
  }
}
