import { dialectOf } from '../../schema/migrate/cluster.js';
import { DIALECTS } from '../../schema/migrate/files.js';
import { checkSchema } from '../../schema/migrate/installation.js';
import { connect } from './connect.js';
import { createCredentialStore } from './credentials.js';
import { createDeadLetterReads } from './dead-letters/reads.js';
import { createDeadLetterWrites } from './dead-letters/writes.js';
import { createFleet } from './devices/index.js';
import { createEventStore } from './events.js';
import { createLateDays, createPackLeases, createPackProgress } from './history/progress.js';
import { createHistoryReads } from './history/reads.js';
import { createUnpackedReads } from './history/unpacked.js';
import { createHistoryWrites } from './history/writes.js';
import { createLatest } from './latest.js';
import { createSampleReads } from './measurements/reads.js';
import { createSampleWrites } from './measurements/writes.js';
import { createProcessStore } from './processes.js';
import { createRegistryStore } from './registry/index.js';
import { createRetirementStore } from './registry/retirement.js';
import { missingRight } from './roles.js';
import { findReplicaSets } from './routing.js';
import { createGuard } from './security-check.js';
import { createSession, translate } from './session.js';
import { createSparkplugStore } from './sparkplug.js';

/** @import { Client } from 'cassandra-driver' */
/** @import { MillraceError } from '../../common/errors.js' */
/** @import { Config } from '../../common/settings/config.js' */
/** @import { Dialect } from '../../schema/migrate/files.js' */
/** @import { Gate, Observe, Session } from './session.js' */
/** @import { OnWrongHabit } from './tracker.js' */

/**
 * Connects to the database and hands out the tables. What ingest sends goes through `gate`, which bounds the requests
 * in flight; readers have a session of their own, so that neither waits behind the other.
 *
 * @param {object} parts
 * @param {Config['cql']} parts.cql
 * @param {Config['retention']} parts.retention
 * @param {Gate} [parts.gate] default: nothing bounds them
 * @param {Observe} parts.observe
 * @param {(kind: string) => void} parts.onStaleIndex
 * @param {OnWrongHabit} [parts.onBrokenRule]
 * @param {() => number} [parts.clock] epoch ms
 * @throws {MillraceError} `database_away`, `bad_settings`, `schema_differs`, `unavailable`
 */
export async function connectStore(parts) {
  const { cql, retention, onBrokenRule } = parts;
  let wasAsked = false;
  const client = await connect(cql, {
    keyspace: cql.keyspace,
    onBrokenRule,
    onAsked: () => {
      wasAsked = true;
    },
  });
  /** @type {Dialect} */
  let dialect;
  try {
    await checkSchema(client, retention);
    dialect = await dialectOf(client);
  } catch (error) {
    await client.shutdown();
    throw missingRight(error, cql.username) ?? translate(error, 'read_schema');
  }
  return createStore({ ...parts, client, dialect, role: cql.username, wasAsked: () => wasAsked });
}

/**
 * The tables, by a client that is connected; tests hand in one of a database in memory.
 *
 * @param {object} parts
 * @param {Client} parts.client
 * @param {Dialect} parts.dialect of the server
 * @param {Pick<Config['retention'], 'latestGroups'>} parts.retention
 * @param {string} [parts.role] that the client signs in as
 * @param {() => boolean} parts.wasAsked whether a node has asked who we are
 * @param {Gate} [parts.gate] default: nothing bounds the requests
 * @param {Observe} parts.observe
 * @param {(kind: string) => void} parts.onStaleIndex
 * @param {() => number} [parts.clock] epoch ms
 */
export function createStore(parts) {
  const { client, dialect, retention, role, wasAsked, gate, observe, onStaleIndex, clock = Date.now } = parts;
  // The driver does not know on which nodes ScyllaDB keeps a tablet: there each partition's rows leave alone.
  const replicasOf = dialect === DIALECTS.scylla ? undefined : findReplicaSets(client);
  const ingest = createSession(client, observe, gate, replicasOf);
  const reading = createSession(client, observe);
  const packed = createHistoryReads(reading);
  return {
    /** Writing, through the gate. */
    measurements: createSampleWrites(ingest),
    latest: createLatest(ingest),
    registry: createRegistryStore(ingest),
    events: createEventStore(ingest),
    deadLetters: createDeadLetterWrites(ingest),
    sparkplug: createSparkplugStore(ingest),
    history: createHistoryWrites(ingest),
    lateDays: createLateDays(ingest),
    /** Reading. */
    samples: createSampleReads(reading),
    packed,
    scans: createScans(reading, dialect),
    packProgress: createPackProgress(reading),
    /** Packing, which gives way to ingest by itself and so needs no gate. */
    packing: {
      ...createUnpackedReads(reading),
      ...createHistoryWrites(reading),
      readStatistics: packed.readStatistics,
      lateDayPage: createLateDays(reading).page,
    },
    packLeases: createPackLeases(reading),
    devices: createRegistryStore(reading),
    deviceEvents: createEventStore(reading),
    retirement: createRetirementStore(reading),
    credentials: createCredentialStore(reading, retention.latestGroups),
    letters: createDeadLetterReads(reading),
    fleet: createFleet({ session: reading, groups: retention.latestGroups, clock, onStaleIndex }),
    health: createHealth(reading, clock),
    guard: createGuard({ session: reading, role, wasAsked }),
    processes: createProcessStore(reading),
    nodes: () => nodesOf(client),
    /** Writes of ingest that wait to leave together. */
    waiting: () => ingest.waiting,
    close: () => client.shutdown(),
  };
}

/** @typedef {ReturnType<typeof createStore>} Store */

/**
 * A node of the database, as the driver sees it from here.
 *
 * @typedef {{ address: string, dataCenter: string | null, up: boolean }} DatabaseNode
 */

/**
 * @param {Client} client
 * @returns {DatabaseNode[]} by address
 */
export const nodesOf = (client) =>
  client.hosts
    .values()
    .map((host) => ({ address: host.address, dataCenter: host.datacenter ?? null, up: host.isUp() }))
    .sort((a, b) => (a.address < b.address ? -1 : 1));

/**
 * The reads of samples for those who read very many, once: exports, long series. Where the server has a cache of rows that
 * they would push the rows of others out of, they go past it.
 *
 * @param {Session} session
 * @param {Pick<Dialect, 'pastCache'>} dialect of the server
 */
export function createScans(session, { pastCache }) {
  /** @type {Session} */
  const pastIt = {
    ...session,
    all: (statement, params, most) =>
      session.all({ ...statement, cql: `${statement.cql}${pastCache}` }, params, most),
  };
  return { samples: createSampleReads(pastIt), packed: createHistoryReads(pastIt) };
}

/** @typedef {ReturnType<typeof createScans>} Scans */

const NOW = { name: 'clock', cql: 'SELECT now() AS now FROM system.local' };

/**
 * @param {Session} session
 * @param {() => number} clock epoch ms
 */
export function createHealth(session, clock) {
  return {
    /**
     * Asks the database for its time, which also shows that it answers.
     *
     * @returns {Promise<number>} how far our clock is ahead of the database's, in ms
     * @throws {MillraceError} `unavailable`
     */
    async clockDifference() {
      const before = clock();
      const row = await session.one(NOW, []);
      const between = (before + clock()) / 2;
      return between - row?.['now'].getDate().getTime();
    },
  };
}

/** @typedef {ReturnType<typeof createHealth>} Health */
