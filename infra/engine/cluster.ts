import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../common/errors.ts';
import type { Ring, Site } from './cassandra-yaml.ts';
import { succeeds } from './cql.ts';
import { Link } from './link.ts';
import { createMember, type Member, ONLY_DATA_CENTER } from './member.ts';
import { rememberedPorts } from './ports.ts';
import type { ServerOptions } from './server-options.ts';

const POLL_MS = 250;
/** Time limit for all nodes to reach each other after the last node answers CQL, in ms. Usually gossip takes seconds. */
const AGREE_MS = 120_000;

/** A query that succeeds with ALL only if every node answers: this keyspace has three copies, and the query reads all ranges. */
const ASK_ALL_NODES = 'SELECT * FROM system_distributed.view_build_status';

/** Nodes of several data centers that boot at the same time. A boot takes 20 s of CPU time. */
const BOOT_AT_ONCE = 2;

/**
 * A Cassandra cluster on this machine: the nodes have the addresses 127.0.0.1, 127.0.0.2 ..., the data center `datacenter1`, and the same
 * CQL port, because the driver expects that. Of several data centers the first one has the addresses 127.0.1.1, 127.0.1.2 ..., the second
 * one 127.0.2.1 and so on. Every node is a separate process group, which ends within 10 s after this process.
 */
export interface Cluster {
  contactPoints: string[];
  /** of several data centers, in turn: the first node of each, then the second of each */
  nodes: Member[];
  /** between the data centers; null: there is one */
  link: Link | null;
  /** starts the nodes that do not run, all at once, and waits until each reaches all others */
  start: () => Promise<void>;
  /** drains and stops all running nodes, and keeps their data */
  stop: () => Promise<void>;
  /** stops the nodes and the link */
  close: () => Promise<void>;
  /** without it, a killed node may lose the latest table definitions */
  keepSchema: () => Promise<void>;
  /** only of one data center: adds a node with half of the token range of the first node. The node joins the cluster at its start */
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
  dataCenters = [ONLY_DATA_CENTER],
  roundTripMs = 0,
  onStatus = () => {},
  signal,
}: Omit<ServerOptions, 'port'> & {
  /** number of nodes of each data center, 3 or more; it must be the same at every start with the same directory */
  size?: number;
  /** names; likewise */
  dataCenters?: string[];
  /** delay of a request to another data center and its answer */
  roundTripMs?: number;
}): Promise<Cluster> {
  await mkdir(dataDir, { recursive: true });
  const places = placesOf(dataCenters, size);
  const seeds = places.map(({ host, site }) => site?.broadcastAddress ?? host);
  const hosts = [...new Set([...places.map(({ host }) => host), ...seeds])];
  const { cql, storage } = await rememberedPorts(join(dataDir, 'ports.json'), ['cql', 'storage'], hosts);
  const member = ({ host, site, number }: NodePlace, ring: Omit<Ring, 'seeds' | 'site'>) => {
    const name = site ? `${site.dataCenter} node ${number}` : `node ${number}`;
    return createMember({
      name,
      dataDir: join(dataDir, name.replaceAll(' ', '-')),
      engineDir,
      place: { host, port: cql, storagePort: storage, ring: { ...ring, seeds, site } },
      signal,
    });
  };
  const nodes = places.map((place, index) =>
    member(place, { initialToken: initialToken(index, places.length) }),
  );
  const ends = places.flatMap(({ host, site }) =>
    site ? [{ outside: site.broadcastAddress, inside: host }] : [],
  );
  const link = ends.length > 0 ? new Link({ ends, port: storage, roundTripMs }) : null;

  async function start() {
    const began = Date.now();
    const show = setInterval(() => {
      const up = nodes.filter(({ running }) => running).length;
      onStatus(
        `Cassandra boots: ${up} of ${nodes.length} nodes after ${Math.round((Date.now() - began) / 1000)} s`,
      );
    }, POLL_MS);
    try {
      const missing = nodes.filter(({ running }) => !running);
      const atOnce = link ? BOOT_AT_ONCE : missing.length;
      for (let from = 0; from < missing.length; from += atOnce) {
        // If a node fails, this code still waits for the other nodes, so that the cleanup knows all started nodes.
        const some = missing.slice(from, from + atOnce);
        const started = await Promise.allSettled(some.map((node) => node.start()));
        const failed = started.find(({ status }) => status === 'rejected');
        if (failed) throw (failed as PromiseRejectedResult).reason;
      }
      await untilAgreed(nodes, signal);
    } finally {
      clearInterval(show);
    }
  }

  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  };

  const close = async () => {
    await stop();
    await link?.stop();
  };

  // By default Cassandra flushes the schema at every change. On three nodes, all migrations then take several times as long.
  const keepSchema = async () => {
    await Promise.all(
      nodes.filter(({ running }) => running).map((node) => node.nodetool(['flush', 'system_schema'])),
    );
  };

  function add() {
    const place = { host: `127.0.0.${size + 1}`, number: size + 1 };
    const joining = member(place, { initialToken: initialToken(1, 2 * size), joins: true });
    nodes.push(joining);
    return joining;
  }

  async function forget(gone: Member) {
    await gone.stop();
    nodes.splice(nodes.indexOf(gone), 1);
  }

  try {
    await link?.start();
    await start();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    contactPoints: nodes.map(({ contactPoint }) => contactPoint),
    nodes,
    link,
    start,
    stop,
    close,
    keepSchema,
    add,
    forget,
  };
}

type NodePlace = { host: string; number: number; site?: Site };

function placesOf(dataCenters: string[], size: number): NodePlace[] {
  const numbers = Array.from({ length: size }, (_, index) => index + 1);
  if (dataCenters.length === 1) return numbers.map((number) => ({ host: `127.0.0.${number}`, number }));
  return numbers.flatMap((number) =>
    dataCenters.map((dataCenter, index) => ({
      host: `127.0.${index + 1}.${number}`,
      number,
      site: { dataCenter, broadcastAddress: `127.0.${index + 11}.${number}` },
    })),
  );
}

/** Equal shares of Murmur3's range, -2^63 to 2^63 - 1. */
export const initialToken = (index: number, size: number) =>
  String((2n ** 64n / BigInt(size)) * BigInt(index) - 2n ** 63n);

async function untilAgreed(nodes: Member[], signal?: AbortSignal) {
  const deadline = Date.now() + AGREE_MS;
  for (const { contactPoint } of nodes) {
    while (!(await succeeds(ASK_ALL_NODES, { contactPoint, consistency: 'ALL' }))) {
      if (Date.now() > deadline) {
        throw new MillraceError('engine_failed', `The node ${contactPoint} does not reach all others.`);
      }
      await sleep(POLL_MS, undefined, { signal });
    }
  }
}
