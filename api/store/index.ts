import { dialectOf } from '../../schema/migrate/cluster.js';
import { DIALECTS } from '../../schema/migrate/files.js';
import { checkSchema } from '../../schema/migrate/installation.js';
import { createAlarmTables } from './alarms/index.js';
import { createAnnotationStore } from './annotations.js';
import { CommitMarks, createCommitMarkStore } from './commit-marks.js';
import { connect } from './connect.js';
import { createCredentialStore } from './credentials.js';
import { createDeadLetterReads } from './dead-letters/reads.js';
import { createDeadLetterWrites } from './dead-letters/writes.js';
import { createFleet } from './devices/index.js';
import { createEventStore } from './events.js';
import { createBaselineStore } from './history/baselines.js';
import { createLateDays, createPackLeases, createPackProgress } from './history/progress.js';
import { createHistoryReads } from './history/reads.js';
import { createUnpackedReads } from './history/unpacked.js';
import { createHistoryWrites } from './history/writes.js';
import { LastSeenWrites, LatestWrites } from './latest/writes.js';
import { createSampleReads } from './measurements/reads.js';
import { PartitionWatch, SampleWrites } from './measurements/writes.js';
import { createOutboxStore } from './outbox.js';
import { createProcessStore } from './processes.js';
import { createRegistryStore } from './registry/index.js';
import { createRetirementStore } from './registry/retirement.js';
import { createSecurityCheck } from './security-check.js';
import { readBatchLimits } from './sending/batch-limits.js';
import { CongestionWindow, Permits } from './sending/congestion-window.js';
import { Retry } from './sending/retry.js';
import { findReplicaSets } from './sending/routing.js';
import { createSession, translate } from './sending/session.js';
import { missingPermission } from './setup/roles.js';
import { createSparkplugStore } from './sparkplug.js';
import { createLateArrivals, createStreamStore } from './streaming.js';
import { createWatchedTimeStore } from './watched-time.js';

export { changeId, deliveryId } from './alarms/deliveries.js';
export { alarmId, newestFirst, parseAlarmId } from './alarms/episodes.js';
export { ClockGuard } from './clock-guard.js';
export { LEASE_MS } from './commit-marks.js';
export { writeTimestamp } from './cql-encoding.js';
export { compareDeadLetterIds } from './dead-letters/dead-letter.js';
export { addCodes, hoursOf, storedForm } from './dead-letters/writes.js';
export { eventId, parseEventId } from './events.js';
export { PROFILE_FLOATS } from './history/baselines.js';
export { allParts } from './measurements/rows.js';
export { logSecurityProblems } from './security-check.js';
export { Retry } from './sending/retry.js';
export { DIGEST_BYTES, MAX_DIGESTS_PER_NOTE } from './streaming.js';
export { parseTimeId } from './time-ids.js';

/** @import { Client } from 'cassandra-driver' */
/** @import { Logger } from 'pino' */
/** @import { MillraceError } from '../../common/errors.js' */
/** @import { Config } from '../../common/settings/config.js' */
/** @import { Dialect } from '../../schema/migrate/files.js' */
/** @import { Gate, Observe, Session } from './sending/session.js' */
/** @import { BatchLimits } from './sending/write-merger.js' */
/** @import { OnBrokenRule } from './query-rule-tracker.js' */

/**
 * Connects to the database and creates the typed tables that other folders use. The folder `store` is the only one
 * that knows CQL. Retry, routing, query rules and write merging are also part of it.
 *
 * Ingest writes through a congestion window, which bounds the requests in flight. Readers use a separate session
 * without a window, so readers and ingest never wait for each other.
 *
 * @param {object} options
 * @param {Config['cql']} options.cql
 * @param {Config['retention']} options.retention
 * @param {number} [options.maxInFlight] largest congestion window; default: unbounded
 * @param {Gate} [options.gate] replaces the window, for tests and benchmarks
 * @param {Observe} options.observe
 * @param {(kind: string) => void} options.onStaleIndex
 * @param {OnBrokenRule} [options.onBrokenRule]
 * @param {SendingHooks} [options.hooks]
 * @param {() => number} [options.clock] epoch ms
 * @throws {MillraceError} `database_away`, `bad_settings`, `schema_differs`, `unavailable`
 */
export async function connectStore(options) {
  const { cql, retention, onBrokenRule } = options;
  let isAuthenticated = false;
  const client = await connect(cql, {
    keyspace: cql.keyspace,
    onBrokenRule,
    onAuthenticate: () => {
      isAuthenticated = true;
    },
  });
  /** @type {Dialect} */
  let dialect;
  try {
    await checkSchema(client, retention);
    dialect = await dialectOf(client);
  } catch (error) {
    await client.shutdown();
    throw missingPermission(error, cql.username) ?? translate(error, 'read_schema');
  }
  return createStore({
    ...options,
    client,
    dialect,
    // With ScyllaDB a batch has rows of one partition only, so these limits do not apply: see `replicasOf`.
    batchLimits: dialect === DIALECTS.scylla ? undefined : await readBatchLimits(client),
    role: cql.username,
    isAuthenticated: () => isAuthenticated,
  });
}

/**
 * Creates the typed tables from a connected client. Tests pass the client of a database in memory.
 *
 * @param {object} deps
 * @param {Client} deps.client
 * @param {Dialect} deps.dialect dialect of CQL that the server supports
 * @param {BatchLimits} [deps.batchLimits] limits of batches over several partitions; default: the defaults of Cassandra
 * @param {Pick<Config['retention'], 'latestGroups'>} deps.retention
 * @param {string} [deps.role] database role of the client
 * @param {() => boolean} deps.isAuthenticated whether a node has asked for credentials
 * @param {number} [deps.maxInFlight] largest congestion window; default: unbounded
 * @param {Gate} [deps.gate] replaces the window, for tests and benchmarks
 * @param {Observe} deps.observe
 * @param {(kind: string) => void} deps.onStaleIndex
 * @param {SendingHooks} [deps.hooks]
 * @param {() => number} [deps.clock] epoch ms
 */
export function createStore(deps) {
  const {
    client,
    dialect,
    batchLimits,
    retention,
    role,
    isAuthenticated,
    maxInFlight = Number.POSITIVE_INFINITY,
    observe,
    onStaleIndex,
    hooks = {},
    clock = Date.now,
  } = deps;
  const { logger = SILENT, onRetry = () => {}, onLargePartition = () => {}, wrapSession } = hooks;
  const window = new CongestionWindow({ max: maxInFlight });
  const permits = new Permits(window);
  const gate = deps.gate ?? (deps.maxInFlight === undefined ? undefined : permits);
  // The driver does not know which nodes of ScyllaDB store a tablet. So with ScyllaDB each batch has rows of one
  // partition only.
  const replicasOf = dialect === DIALECTS.scylla ? undefined : findReplicaSets(client);
  const reading = createSession(client, observe);
  const commitMarks = new CommitMarks({ store: createCommitMarkStore(reading), clock });
  const writing = createSession(client, observe, gate, replicasOf, batchLimits, commitMarks);
  const ingest = wrapSession?.(writing, client) ?? writing;
  const packed = createHistoryReads(reading);
  const retry = new Retry({ logger, onRetry });
  const watch = new PartitionWatch({ logger, onLarge: onLargePartition });
  const samples = new SampleWrites({ session: ingest, retry, watch });
  const latest = new LatestWrites({ session: ingest, retry, logger });
  const lastSeen = new LastSeenWrites({ session: ingest, retry });
  /** Returns the number of requests that wait for the window, or of rows that wait to be merged if it is greater. */
  const waiting = () => Math.max(permits.waiting, ingest.waiting);
  return {
    /** Writes of ingest, which use the congestion window. */
    write: {
      // Writes of samples are repeated until they are committed. The method is bound, because a wrapper would be one
      // more function call per message.
      samples: samples.write.bind(samples),
      latest: /** @type {LatestWrites['write']} */ (latest.write.bind(latest)),
      lastSeen: lastSeen.note.bind(lastSeen),
      observeBlocks: samples.observeBlocks.bind(samples),
      registry: createRegistryStore(ingest),
      events: createEventStore(ingest),
      sparkplug: createSparkplugStore(ingest),
      history: createHistoryWrites(ingest),
      lateDays: createLateDays(ingest),
      lateArrivals: createLateArrivals(ingest),
      outbox: createOutboxStore(ingest),
    },
    /** Repeats writes of ingest until the database accepts them. */
    retry,
    /** The tables from here on are for all other requests, which do not use the congestion window. */
    samples: createSampleReads(reading),
    packed,
    scans: createScans(reading, dialect),
    packProgress: createPackProgress(reading),
    /** Reads and writes of the packer. They do not use the window, because the packer rests while ingest waits. */
    packing: {
      ...createUnpackedReads(reading),
      ...createHistoryWrites(reading),
      readStatistics: packed.readRows,
      lateDayPage: createLateDays(reading).page,
    },
    packLeases: createPackLeases(reading, 'pack_lease'),
    streaming: {
      ...createStreamStore(reading),
      lateArrivalPage: createLateArrivals(reading).page,
      outboxPage: createOutboxStore(reading).page,
    },
    streamLeases: createPackLeases(reading, 'stream_lease'),
    parquetLeases: createPackLeases(reading, 'parquet_lease'),
    baselines: createBaselineStore(reading),
    devices: createRegistryStore(reading),
    events: createEventStore(reading),
    alarms: createAlarmTables(reading),
    annotations: createAnnotationStore(reading),
    retirement: createRetirementStore(reading),
    credentials: createCredentialStore(reading, retention.latestGroups),
    deadLetters: { ...createDeadLetterReads(reading), ...createDeadLetterWrites(ingest) },
    fleet: createFleet({ session: reading, groups: retention.latestGroups, clock, onStaleIndex }),
    health: {
      ...createHealth(reading, clock),
      checkSecurity: createSecurityCheck({ session: reading, role, isAuthenticated }),
      nodes: () => nodesOf(client),
      /** Returns the number of requests of ingest in flight and waiting, and the window that bounds them. */
      pressure: () => ({
        in_flight: permits.inUse,
        window: window.size,
        window_limit: maxInFlight,
        waiting: waiting(),
      }),
      /** Returns whether requests of ingest wait for the congestion window. */
      isPressed: () => waiting() > 0,
    },
    processes: createProcessStore(reading),
    commitMarks,
    watchedTime: createWatchedTimeStore(reading),
    async close() {
      await commitMarks.stop();
      await client.shutdown();
    },
  };
}

/** @typedef {ReturnType<typeof createStore>} Store */

/**
 * Callbacks for the requests of ingest.
 *
 * @typedef {object} SendingHooks
 * @property {Pick<Logger, 'info' | 'warn'>} [logger] default: nothing is logged
 * @property {() => void} [onRetry] a request failed and will be repeated
 * @property {() => void} [onLargePartition] an hour of a device grows too large for a server
 * @property {(session: Session, client: Client) => Session} [wrapSession] changes the requests of ingest, for tests and benchmarks
 */

/** @type {Pick<Logger, 'info' | 'warn'>} */
const SILENT = { info() {}, warn() {} };

/**
 * A node of the database, as the driver of this process sees it.
 *
 * @typedef {{ address: string, dataCenter: string | null, up: boolean }} DatabaseNode
 */

/** @param {Client} client @returns {DatabaseNode[]} nodes of the database, sorted by address */
export const nodesOf = (client) =>
  client.hosts
    .values()
    .map((host) => ({ address: host.address, dataCenter: host.datacenter ?? null, up: host.isUp() }))
    .sort((a, b) => (a.address < b.address ? -1 : 1));

/**
 * Creates the reads for exports and long series. Such reads need many samples only once. So they bypass the row cache,
 * if the server has such a cache, and do not evict rows that other readers need.
 *
 * @param {Session} session
 * @param {Pick<Dialect, 'pastCache'>} dialect of the server
 */
export function createScans(session, { pastCache }) {
  /** @type {Session} */
  const uncached = {
    ...session,
    all: (statement, params, limit) =>
      session.all({ ...statement, cql: `${statement.cql}${pastCache}` }, params, limit),
  };
  return { samples: createSampleReads(uncached), packed: createHistoryReads(uncached) };
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
     * Reads the database's clock. This also checks that the database answers.
     *
     * @returns {Promise<number>} how far the local clock is ahead of the database's, in ms
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
