import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../common/errors.js';
import { DIALECTS } from './files.js';

/** @import { Client } from 'cassandra-driver' */
/** @import { Dialect } from './files.js' */

/**
 * DDL is neither prepared nor repeated automatically. It may take longer than any other request, because a busy cluster has to agree
 * on it. In ms, and less than the time of the schema lock.
 */
export const DDL = { prepare: false, isIdempotent: false, readTimeout: 30_000 };

/** @param {Client} client @returns {Promise<Dialect>} */
export async function dialectOf(client) {
  const { rows } = await client.execute(
    "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'system' AND table_name = 'scylla_local'",
  );
  return rows.length > 0 ? DIALECTS.scylla : DIALECTS.cassandra;
}

/**
 * Creates a keyspace with three copies, or with one for each node if there are fewer. An existing keyspace stays unchanged. It gets no
 * CREATE statement, because that needs the right to create a keyspace.
 *
 * @param {Client} client
 * @param {string} keyspace
 * @param {(text: string) => void} onStatus called with the number of copies of a new keyspace, because a later change is difficult
 */
export async function createKeyspace(client, keyspace, onStatus) {
  const { rows } = await client.execute(
    'SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?',
    [keyspace],
  );
  if (rows.length > 0) return;
  const nodes = client.getState().getConnectedHosts().length;
  const peers = (await client.execute('SELECT peer FROM system.peers', [], { prepare: false })).rowLength;
  const replicas = Math.min(3, Math.max(nodes, peers + 1));
  onStatus(`keyspace ${keyspace}, ${replicas === 1 ? 'one copy' : `${replicas} copies`} of everything`);
  await client.execute(
    `CREATE KEYSPACE IF NOT EXISTS ${keyspace} WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': ${replicas}}`,
    [],
    DDL,
  );
}

/** Time for all nodes to agree on a new keyspace or table, in ms. */
const AGREEMENT_MS = 60_000;
const AGREEMENT_LOOK_MS = 50;

/** "Keyspace … doesn't exist": an invalid request to Cassandra, a matter of configuration to ScyllaDB. */
const MISSING_KEYSPACE = [0x2200, 0x2300];

/**
 * Creates the tables that must exist before there is a lock. Many processes may do so at once. Cassandra gives a table an id on the node
 * that creates it, and two nodes that create the same table at once never agree on it again. So all processes send the statements to
 * one node, which executes one after the other, and continue when the other nodes know the tables.
 *
 * @param {Client} admin without a keyspace: with one, it would not connect to nodes that do not know it yet
 * @param {string} keyspace
 * @param {string[]} statements each `CREATE TABLE IF NOT EXISTS`
 * @throws {MillraceError} `unavailable` when the nodes do not agree on the schema within a minute
 */
export async function createFirst(admin, keyspace, statements) {
  const host = admin
    .getState()
    .getConnectedHosts()
    .sort((one, other) => (one.address < other.address ? -1 : 1))[0];
  for (const statement of statements) {
    const cql = statement.replace(' IF NOT EXISTS ', ` IF NOT EXISTS ${keyspace}.`);
    await untilListed(() => admin.execute(cql, [], { ...DDL, host }));
  }
  await untilAgreed(admin);
}

/**
 * Changes the schema, and waits until the nodes agree on the change: the next one may go to another node.
 *
 * @param {Client} client
 * @param {string} statement
 * @throws {MillraceError} `unavailable` when the nodes do not agree on the schema within a minute
 */
export async function changeSchema(client, statement) {
  await client.execute(statement, [], DDL);
  await untilAgreed(client);
}

/**
 * A keyspace that another process makes at this moment is listed some ms before it can be used (Cassandra 5.0: in 40 of 40
 * tries), and longer on the other nodes.
 *
 * @param {() => Promise<unknown>} create
 */
async function untilListed(create) {
  const deadline = Date.now() + AGREEMENT_MS;
  for (;;) {
    try {
      return await create();
    } catch (error) {
      const { code } = /** @type {{ code?: unknown }} */ (error);
      if (!MISSING_KEYSPACE.includes(Number(code)) || Date.now() > deadline) throw error;
    }
    await sleep(200);
  }
}

/** @param {Client} client */
async function untilAgreed(client) {
  const deadline = Date.now() + AGREEMENT_MS;
  while (!(await isAgreed(client))) {
    if (Date.now() > deadline) {
      throw new MillraceError(
        'unavailable',
        'The nodes of the database do not agree on its schema: see nodetool describecluster.',
      );
    }
    await sleep(AGREEMENT_LOOK_MS);
  }
}

/**
 * True if all available nodes have the same schema. Other nodes receive it when they return. The `checkSchemaAgreement` of the driver
 * counts unavailable nodes with their last schema, which differs until they return.
 *
 * @param {Client} client
 */
async function isAgreed(client) {
  const versions = await Promise.all(
    client
      .getState()
      .getConnectedHosts()
      .map((host) =>
        client.execute('SELECT schema_version FROM system.local', [], { ...DDL, host }).then(
          (answer) => String(answer.first()?.['schema_version']),
          // The node is slow, or has just gone.
          () => null,
        ),
      ),
  );
  return new Set(versions).size === 1 && !versions.includes(null);
}
