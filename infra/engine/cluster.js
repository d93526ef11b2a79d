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
/** After the last node answers, gossip reaches the others within seconds. */
const AGREE_MS = 120_000;

/** Cassandra keeps three copies of this keyspace. The query reads all copies of all ranges, so every node has to answer. */
const ASK_EVERYBODY = 'SELECT * FROM system_distributed.view_build_status';

/**
 * A Cassandra of several nodes on this machine: 127.0.0.1, 127.0.0.2 ..., data center `datacenter1`, all with the same
 * CQL port, as the driver expects it. Every node is a process group of its own and ends within 10 s of this process.
 *
 * @typedef {object} Cluster
 * @property {string[]} contactPoints `ADDRESS:PORT`
 * @property {Member[]} nodes
 * @property {() => Promise<void>} start starts the nodes that do not run, all at once, and waits until each reaches all others
 * @property {() => Promise<void>} stop drains and stops all running nodes, and keeps their data
 * @property {() => Promise<void>} keepSchema writes the tables' definitions to disk. Without this call, a killed node may lose the latest definitions
 * @property {() => Member} add adds a node with half of the token range of the first node; the node joins the cluster when it is started
 * @property {(member: Member) => Promise<void>} forget stops a node that has left the cluster, and removes it from `nodes`
 */

/**
 * Creates a cluster, or starts the one in the directory, and waits until each node reaches all others.
 *
 * @param {object} options
 * @param {string} options.dataDir directory of all data of all nodes
 * @param {string} [options.engineDir] folder of the jars; default: `engine` under the data directory
 * @param {number} [options.size] number of nodes, 3 or more; it must be the same at every start with one directory
 * @param {(text: string) => void} [options.onStatus] gets the current status, often
 * @param {AbortSignal} [options.signal] aborts the start, and ends the processes that were started
 * @returns {Promise<Cluster>}
 * @throws {MillraceError} as `startEngine`
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
      // If one fails, wait for the others, so that the cleanup knows all of them.
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

  // A flush at every change, as Cassandra has it by default, makes all migrations take several times as long on three nodes.
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
 * Even shares of Murmur3's range, -2^63 to 2^63 - 1.
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
