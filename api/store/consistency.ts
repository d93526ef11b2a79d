import type { Client, ClientOptions } from 'cassandra-driver';
import cassandra from 'cassandra-driver';
import type { Dialect } from '../../schema/migrate/files.ts';

const { eachQuorum, all, localQuorum } = cassandra.types.consistencies;

/** Consistency levels of the requests of a session; undefined: the level of the settings. */
export interface Levels {
  read: () => number | undefined;
  write: () => number | undefined;
}

export interface LevelsEverywhere extends Levels {
  /** whether these requests wait for another data center */
  isFar: () => boolean;
}

/**
 * A quorum of each data center, if the keyspace is replicated to several ones and the level of the settings is LOCAL_QUORUM. With
 * LOCAL_QUORUM, a write is committed in one data center, and reaches the others later.
 *
 * Two kinds of requests need these levels:
 * - a read whose reader deletes something, or marks it as complete, because nothing is missing
 * - a write from which readers in every data center conclude that something is complete, and all that they then expect to find
 *
 * While another data center cannot be reached, these requests fail, and their work waits. The replication may change while a process runs.
 * @param client its keyspace is the one of the requests
 */
export function levelsEverywhere(
  client: Client,
  { readsEachQuorum }: Pick<Dialect, 'readsEachQuorum'>,
): LevelsEverywhere {
  // The driver's types lack the options of a client.
  const { options } = client as unknown as { options?: ClientOptions };
  const isLocal = options?.queryOptions?.consistency === localQuorum;
  const isFar = () => isLocal && dataCentersOf(client) > 1;
  return {
    isFar,
    read: () => (isFar() ? (readsEachQuorum ? eachQuorum : all) : undefined),
    write: () => (isFar() ? eachQuorum : undefined),
  };
}

/** Number of data centers with copies of the keyspace. The driver follows changes of the schema. */
function dataCentersOf(client: Client): number {
  // The driver's types lack the replication of a keyspace.
  const { keyspaces } = client.metadata as unknown as {
    keyspaces: Record<string, { strategyOptions?: Record<string, string> } | undefined>;
  };
  const copies = Object.values(keyspaces[client.keyspace]?.strategyOptions ?? {});
  return copies.filter((count) => count !== '0').length;
}
