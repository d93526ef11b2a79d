import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'cassandra-driver';
import { MillraceError } from '../../common/errors.ts';
import { DIALECTS, type Dialect } from './files.ts';

/**
 * DDL statements are neither prepared nor repeated automatically. `readTimeout` is in ms. It is longer than for other
 * requests, because a busy cluster needs time to agree on the schema. It is shorter than the TTL of the schema lock.
 */
export const DDL = { prepare: false, isIdempotent: false, readTimeout: 30_000 };

export async function dialectOf(client: Client): Promise<Dialect> {
  const { rows } = await client.execute(
    "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'system' AND table_name = 'scylla_local'",
  );
  return rows.length > 0 ? DIALECTS.scylla : DIALECTS.cassandra;
}

/**
 * Three copies, or one copy per node if the cluster has fewer than three nodes. An existing keyspace stays unchanged.
 * In that case no CREATE statement is sent, because it needs the permission to create a keyspace.
 */
export async function createKeyspace(client: Client, keyspace: string, onStatus: (text: string) => void) {
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

/** In ms. If the nodes do not agree on a new keyspace or table in this time, the migration fails. */
const AGREEMENT_MS = 60_000;
const AGREEMENT_LOOK_MS = 50;

/** "Keyspace … doesn't exist": Cassandra answers "invalid", ScyllaDB "configuration error". */
const MISSING_KEYSPACE = [0x2200, 0x2300];

/**
 * Creates the tables that the schema lock needs, so many processes may call this function at once. In Cassandra the node that creates a
 * table chooses its id. Two nodes that create the same table at once never agree on its schema again. So all processes send the statements
 * to the same node, which executes them one after the other, and then wait until the other nodes know the tables.
 * @param admin has no keyspace: a client with a keyspace does not connect to nodes that do not know it yet
 * @throws `unavailable` when the nodes do not agree on the schema within a minute
 */
export async function createFirst(admin: Client, keyspace: string, statements: string[]) {
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

/** The next statement may go to another node. @throws `unavailable` when the nodes do not agree within a minute */
export async function changeSchema(client: Client, statement: string) {
  await client.execute(statement, [], DDL);
  await untilAgreed(client);
}

/** A keyspace of another process is listed some ms before it can be used (Cassandra 5.0: in 40 of 40 tries), on other nodes longer. */
async function untilListed(create: () => Promise<unknown>) {
  const deadline = Date.now() + AGREEMENT_MS;
  for (;;) {
    try {
      return await create();
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (!MISSING_KEYSPACE.includes(Number(code)) || Date.now() > deadline) throw error;
    }
    await sleep(200);
  }
}

async function untilAgreed(client: Client) {
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

/** The driver's `checkSchemaAgreement` counts unavailable nodes with their last schema. They receive the schema when they return. */
async function isAgreed(client: Client) {
  const versions = await Promise.all(
    client
      .getState()
      .getConnectedHosts()
      .map((host) =>
        client.execute('SELECT schema_version FROM system.local', [], { ...DDL, host }).then(
          (answer) => String(answer.first()?.['schema_version']),
          // The node is slow, or has just become unavailable. It does not count.
          () => null,
        ),
      ),
  );
  return new Set(versions).size === 1 && !versions.includes(null);
}
