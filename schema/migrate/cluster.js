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
