import { dialectOf } from '../../schema/migrate/cluster.js';
import { DIALECTS } from '../../schema/migrate/files.js';
import { checkSchema } from '../../schema/migrate/installation.js';
import { connect } from './connect.js';
import { createCredentialStore } from './credentials.js';
import { createDeadLetterReads } from './dead-letters/reads.js';
import { createDeadLetterWrites } from './dead-letters/writes.js';
import { createEventStore } from './events.js';
import { createFleet } from './fleet/index.js';
import { createGuard } from './guard.js';
import { createHealth } from './health.js';
import { createLateDays } from './history/late-days.js';
import { createPackLeases } from './history/leases.js';
import { createPackProgress } from './history/progress.js';
import { createHistoryReads } from './history/reads.js';
import { createUnpackedReads } from './history/unpacked.js';
import { createHistoryWrites } from './history/writes.js';
import { createLatest } from './latest.js';
import { createSampleReads } from './measurements/reads.js';
import { createSampleWrites } from './measurements/writes.js';
import { nodesOf } from './nodes.js';
import { createProcessStore } from './processes.js';
import { createRegistryStore } from './registry/index.js';
import { createRetirementStore } from './registry/retirement.js';
import { missingRight } from './rights.js';
import { RememberedReplicasPolicy } from './routing.js';
import { createScans } from './scans.js';
import { createSession, translate } from './session.js';
import { createSparkplugStore } from './sparkplug.js';

/**
 * Connects to the database and hands out the tables. What ingest sends goes through `gate`, which bounds the requests
 * in flight; readers have a session of their own, so that neither waits behind the other.
 *
 * @param {object} parts
 * @param {import('../../common/settings/index.js').Config['cql']} parts.cql
 * @param {import('../../common/settings/index.js').Config['retention']} parts.retention
 * @param {import('./session.js').Gate} [parts.gate] default: nothing bounds them
 * @param {import('./session.js').Observe} parts.observe
 * @param {(kind: string) => void} parts.onStaleIndex
 * @param {import('./habits.js').OnWrongHabit} [parts.onWrongHabit]
 * @param {() => number} [parts.clock] epoch ms
 * @throws {import('../../common/errors.js').MillraceError} `database_away`, `bad_settings`, `schema_differs`, `unavailable`
 */
export async function connectStore(parts) {
  const { cql, retention, onWrongHabit } = parts;
  let wasAsked = false;
  const client = await connect(cql, {
    keyspace: cql.keyspace,
    onWrongHabit,
    onAsked: () => {
      wasAsked = true;
    },
  });
  /** @type {import('../../schema/migrate/files.js').Dialect} */
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
 * @param {import('cassandra-driver').Client} parts.client
 * @param {import('../../schema/migrate/files.js').Dialect} parts.dialect of the server
 * @param {Pick<import('../../common/settings/index.js').Config['retention'], 'latestGroups'>} parts.retention
 * @param {string} [parts.role] that the client signs in as
 * @param {() => boolean} parts.wasAsked whether a node has asked who we are
 * @param {import('./session.js').Gate} [parts.gate] default: nothing bounds the requests
 * @param {import('./session.js').Observe} parts.observe
 * @param {(kind: string) => void} parts.onStaleIndex
 * @param {() => number} [parts.clock] epoch ms
 */
export function createStore(parts) {
  const { client, dialect, retention, role, wasAsked, gate, observe, onStaleIndex, clock = Date.now } = parts;
  // The driver does not know on which nodes ScyllaDB keeps a tablet: there each partition's rows leave alone.
  const replicasOf =
    dialect === DIALECTS.scylla ? undefined : (/** @type {Buffer} */ key) => replicaSetOf(client, key);
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

/** @param {import('cassandra-driver').Client} client @param {Buffer} key @returns {string | null} */
function replicaSetOf(client, key) {
  // The typings leave out the options that a client was made with.
  const { options } = /** @type {{ options?: import('cassandra-driver').ClientOptions }} */ (
    /** @type {unknown} */ (client)
  );
  const policy = options?.policies?.loadBalancing;
  return policy instanceof RememberedReplicasPolicy ? policy.replicaSetOf(client.keyspace, key) : null;
}
