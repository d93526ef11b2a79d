import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../common/errors.ts';
import type { Ring } from './cassandra-yaml.ts';
import { succeeds } from './cql.ts';
import { createMember, type Member } from './member.ts';
import { rememberedPorts } from './ports.ts';
import type { ServerOptions } from './server-options.ts';

const POLL_MS = 250;
/** Time limit for all nodes to reach each other after the last node answers CQL, in ms. Usually gossip takes seconds. */
const AGREE_MS = 120_000;

/** A query that succeeds with ALL only if every node answers: this keyspace has three copies, and the query reads all ranges. */
const ASK_EVERYBODY = 'SELECT * FROM system_distributed.view_build_status';

/**
 * A Cassandra cluster on this machine: the nodes have the addresses 127.0.0.1, 127.0.0.2 ..., the data center `datacenter1`, and the same
 * CQL port, because the driver expects that. Every node is a separate process group, which ends within 10 s after this process.
 */
export interface Cluster {
  contactPoints: string[];
  nodes: Member[];
  /** starts the nodes that do not run, all at once, and waits until each reaches all others */
  start: () => Promise<void>;
  /** drains and stops all running nodes, and keeps their data */
  stop: () => Promise<void>;
  /** without it, a killed node may lose the latest table definitions */
  keepSchema: () => Promise<void>;
  /** adds a node with half of the token range of the first node. The node joins the cluster at its start */
  add: () => Member;
  /** the node must have left the cluster */
  forget: (member: Member) => Promise<void>;
}

/**
 * Starts the cluster in the data directory, or creates a new cluster there, and waits until each node reaches all others.
 * @throws the same codes as `startEngine`
 */
export async function startCluster({
  dataDir,
  engineDir = join(dataDir, 'engine'),
  size = 3,
  onStatus = () => {},
  signal,
}: Omit<ServerOptions, 'port'> & {
  /** number of nodes, 3 or more; it must be the same at every start with the same directory */
  size?: number;
}): Promise<Cluster> {
  await mkdir(dataDir, { recursive: true });
  const hosts = Array.from({ length: size }, (_, index) => `127.0.0.${index + 1}`);
  const { cql, storage } = await rememberedPorts(join(dataDir, 'ports.json'), ['cql', 'storage'], hosts);
  const member = (host: string, ring: Omit<Ring, 'seeds'>) => {
    const number = host.split('.').at(-1);
    return createMember({
      name: `node ${number}`,
      dataDir: join(dataDir, `node-${number}`),
      engineDir,
      place: { host, port: cql, storagePort: storage, ring: { ...ring, seeds: hosts } },
      signal,
    });
  };
  const nodes = hosts.map((host, index) => member(host, { initialToken: initialToken(index, size) }));

  async function start() {
    const began = Date.now();
    const show = setInterval(() => {
      const up = nodes.filter(({ running }) => running).length;
      onStatus(`Cassandra boots: ${up} of ${size} nodes after ${Math.round((Date.now() - began) / 1000)} s`);
    }, POLL_MS);
    try {
      // If a node fails, this code still waits for the other nodes, so that the cleanup knows all started nodes.
      const started = await Promise.allSettled(nodes.map((node) => node.start()));
      const failed = started.find(({ status }) => status === 'rejected');
      if (failed) throw (failed as PromiseRejectedResult).reason;
      await untilAgreed(nodes, signal);
    } finally {
      clearInterval(show);
    }
  }

  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  };

  // By default Cassandra flushes the schema at every change. On three nodes, all migrations then take several times as long.
  const keepSchema = async () => {
    await Promise.all(
      nodes.filter(({ running }) => running).map((node) => node.nodetool(['flush', 'system_schema'])),
    );
  };

  function add() {
    const joining = member(`127.0.0.${size + 1}`, { initialToken: initialToken(1, 2 * size), joins: true });
    nodes.push(joining);
    return joining;
  }

  async function forget(gone: Member) {
    await gone.stop();
    nodes.splice(nodes.indexOf(gone), 1);
  }

  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    contactPoints: nodes.map(({ contactPoint }) => contactPoint),
    nodes,
    start,
    stop,
    keepSchema,
    add,
    forget,
  };
}

/** Equal shares of Murmur3's range, -2^63 to 2^63 - 1. */
export const initialToken = (index: number, size: number) =>
  String((2n ** 64n / BigInt(size)) * BigInt(index) - 2n ** 63n);

async function untilAgreed(nodes: Member[], signal?: AbortSignal) {
  const deadline = Date.now() + AGREE_MS;
  for (const { contactPoint } of nodes) {
    while (!(await succeeds(ASK_EVERYBODY, { contactPoint, consistency: 'ALL' }))) {
      if (Date.now() > deadline) {
        throw new MillraceError('engine_failed', `The node ${contactPoint} does not reach all others.`);
      }
      await sleep(POLL_MS, undefined, { signal });
    }
  }
}
