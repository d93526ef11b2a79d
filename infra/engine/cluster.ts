import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../common/errors.js';
import { createMember } from './member.js';
import { rememberedPorts } from './ports.js';
import { succeeds } from './query.js';

/** @import { Ring } from './cassandra-yaml.js' */
/** @import { Member } from './member.js' */

const POLL_MS = 250;
/** Time limit for all nodes to reach each other after the last node answers CQL, in ms. Usually gossip takes seconds. */
const AGREE_MS = 120_000;

/** A query that succeeds with ALL only if every node answers: this keyspace has three copies, and the query reads all ranges. */
const ASK_EVERYBODY = 'SELECT * FROM system_distributed.view_build_status';

/**
 * A Cassandra cluster on this machine: the nodes have the addresses 127.0.0.1, 127.0.0.2 ..., the data center `datacenter1`, and the same
 * CQL port, because the driver expects that. Every node is a separate process group, which ends within 10 s after this process.
 *
 * @typedef {object} Cluster
 * @property {string[]} contactPoints `ADDRESS:PORT`
 * @property {Member[]} nodes
 * @property {() => Promise<void>} start starts the nodes that do not run, all at once, and waits until each reaches all others
 * @property {() => Promise<void>} stop drains and stops all running nodes, and keeps their data
 * @property {() => Promise<void>} keepSchema writes the table definitions to disk. Without this call, a killed node may lose the
 *   latest definitions
 * @property {() => Member} add adds a node with half of the token range of the first node. The node joins the cluster at its
 *   start
 * @property {(member: Member) => Promise<void>} forget stops a node that has left the cluster, and removes it from `nodes`
 */

/**
 * Starts the cluster in the data directory, or creates a new cluster there, and waits until each node reaches all others.
 *
 * @param {object} options
 * @param {string} options.dataDir directory with the data of all nodes
 * @param {string} [options.engineDir] folder of the jars; default: `engine` under the data directory
 * @param {number} [options.size] number of nodes, 3 or more; it must be the same at every start with the same directory
 * @param {(text: string) => void} [options.onStatus] is called with the current status, many times
 * @param {AbortSignal} [options.signal] aborts the start, and ends the processes that were started
 * @returns {Promise<Cluster>}
 * @throws {MillraceError} the same codes as `startEngine`
 */
export async function startCluster({
  dataDir,
  engineDir = join(dataDir, 'engine'),
  size = 3,
  onStatus = () => {},
  signal,
}) {
  await mkdir(dataDir, { recursive: true });
  const hosts = Array.from({ length: size }, (_, index) => `127.0.0.${index + 1}`);
  const { cql, storage } = await rememberedPorts(join(dataDir, 'ports.json'), ['cql', 'storage'], hosts);
  /** @param {string} host @param {Omit<Ring, 'seeds'>} ring */
  const member = (host, ring) => {
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
      if (failed) throw /** @type {PromiseRejectedResult} */ (failed).reason;
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

  /** @param {Member} gone */
  async function forget(gone) {
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

/**
 * Returns the token of a node, so that all nodes have equal shares of Murmur3's range, -2^63 to 2^63 - 1.
 *
 * @param {number} index
 * @param {number} size
 */
export const initialToken = (index, size) => String((2n ** 64n / BigInt(size)) * BigInt(index) - 2n ** 63n);

/** @param {Member[]} nodes @param {AbortSignal} [signal] */
async function untilAgreed(nodes, signal) {
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
