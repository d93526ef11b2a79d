import type { Client } from 'cassandra-driver';
import type { Logger } from 'pino';
import type { Config } from '../../common/settings/config.ts';
import { dialectOf } from '../../schema/migrate/cluster.ts';
import { DIALECTS, type Dialect } from '../../schema/migrate/files.ts';
import { checkSchema } from '../../schema/migrate/installation.ts';
import { connect } from './connect.ts';
import { levelsEverywhere } from './consistency.ts';
import { createCorrectionStore } from './corrections.ts';
import { createDeadLetterStore } from './dead-letters.ts';
import { createFleet } from './devices/index.ts';
import type { OnBrokenRule } from './driver-policies.ts';
import { findReplicaSets } from './driver-policies.ts';
import { createEventStore } from './events.ts';
import { createLateDays, createLeaseStore, createPackProgress } from './history/progress.ts';
import { createHistoryReads } from './history/reads.ts';
import { createUnpackedReads } from './history/unpacked.ts';
import { createHistoryWrites } from './history/writes.ts';
import { createJournalStore } from './journal/index.ts';
import { createLateArrivals } from './late-arrivals.ts';
import { createCorrectedLatest } from './latest/corrected.ts';
import { LastSeenWrites, LatestWrites } from './latest/writes.ts';
import { createSampleReads, NOTHING_UNWRITTEN, type Unwritten } from './measurements/reads.ts';
import { PartitionWatch, SampleWrites } from './measurements/writes.ts';
import { createOutboxStore } from './outbox.ts';
import { createProcessStore } from './processes.ts';
import { createRegistryStore } from './registry/index.ts';
import { createRetirementStore } from './registry/retirement.ts';
import { readBatchLimits } from './sending/batch-limits.ts';
import { CongestionWindow, Permits } from './sending/congestion-window.ts';
import { Retry } from './sending/retry.ts';
import { createSession, type Gate, type Observe, type Session, translate } from './sending/session.ts';
import { type OpenStamps, plainStamps } from './sending/stamps.ts';
import type { BatchLimits } from './sending/write-merger.ts';
import { missingPermission } from './setup/permissions.ts';
import { createWatchedTimeStore } from './watched-time.ts';

export { ClockGuard } from './clock-guard.ts';
export { connect } from './connect.ts';
export {
  firstIdOf,
  float64,
  greaterStamp,
  int32,
  int64,
  msOfStamp,
  newTimeId,
  parseTimeId,
  readStamp,
  type Stamp,
  stampAfter,
  stampOf,
  timeOfId,
  type WriteStamp,
  WriteTimestamps,
  writeTimestamp,
} from './cql-values.ts';
export { storedForm } from './dead-letters.ts';
export { iterateGroups } from './devices/device-pages.ts';
export { mergeNewest } from './devices/latest-rows.ts';
export { reasonOf } from './error-reason.ts';
export { eventId, parseEventId } from './events.ts';
export { createLeaseStore } from './history/progress.ts';
export { entryBytes } from './journal/entries.ts';
export { createLateArrivals } from './late-arrivals.ts';
export { lastInstantOf, noteCommitted } from './latest/writes.ts';
export { blocksOfHour } from './measurements/hours.ts';
export { allParts } from './measurements/reads.ts';
export { isRefusal } from './sending/pending-rows.ts';
export { Retry } from './sending/retry.ts';
export { isForbidden } from './setup/permissions.ts';

/**
 * Connects to the database and creates the typed tables that other folders use. The folder `store` is the
 * only one that knows CQL. Retry, routing, query rules and write merging are also part of it.
 *
 * Ingest writes through a congestion window, which bounds the requests in flight. Readers use a separate
 * session without a window, so readers and ingest never wait for each other.
 * @throws `database_away`, `bad_settings`, `schema_differs`, `unavailable`
 */
export async function connectStore(options: {
  cql: Config['cql'];
  retention: Config['retention'];
  /** largest congestion window; default: unbounded */
  maxInFlight?: number;
  /** replaces the window, for tests and benchmarks */
  gate?: Gate;
  observe: Observe;
  onStaleIndex: (kind: string) => void;
  onBrokenRule?: OnBrokenRule;
  hooks?: SendingHooks;
  /** default: timestamps that nobody follows */
  openStamps?: OpenStamps | undefined;
  /** epoch ms */
  clock?: () => number;
}) {
  const { cql, onBrokenRule } = options;
  let isAuthenticated = false;
  const client = await connect(cql, {
    keyspace: cql.keyspace,
    onBrokenRule,
    onAuthenticate: () => {
      isAuthenticated = true;
    },
  });
  try {
    const dialect = await readDialect(client, options);
    return createStore({
      ...options,
      client,
      dialect,
      // With ScyllaDB a batch has rows of one partition only, so these limits do not apply: see `replicasOf`.
      batchLimits: dialect === DIALECTS.scylla ? undefined : await readBatchLimits(client),
      isAuthenticated: () => isAuthenticated,
    });
  } catch (error) {
    await client.shutdown();
    throw error;
  }
}

async function readDialect(
  client: Client,
  { cql, retention }: Pick<Config, 'cql' | 'retention'>,
): Promise<Dialect> {
  try {
    await checkSchema(client, retention);
    return await dialectOf(client);
  } catch (error) {
    throw missingPermission(error, cql.username) ?? translate(error, 'read_schema');
  }
}

/** Tests pass the client of a database in memory. */
export function createStore(deps: {
  client: Client;
  dialect: Dialect;
  batchLimits?: BatchLimits;
  retention: Pick<Config['retention'], 'latestGroups'>;
  /** whether a node has asked for credentials */
  isAuthenticated: () => boolean;
  /** largest congestion window; default: unbounded */
  maxInFlight?: number;
  /** replaces the window, for tests and benchmarks */
  gate?: Gate;
  observe: Observe;
  onStaleIndex: (kind: string) => void;
  hooks?: SendingHooks;
  openStamps?: OpenStamps | undefined;
  clock?: () => number;
}) {
  const {
    client,
    dialect,
    batchLimits,
    retention,
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
  // The driver does not know which nodes of ScyllaDB store a tablet. So with ScyllaDB each batch has rows of one partition only.
  const replicasOf = dialect === DIALECTS.scylla ? undefined : findReplicaSets(client);
  const reading = createSession(client, observe);
  const unwritten: Unwritten = { ...NOTHING_UNWRITTEN };
  const levels = levelsEverywhere(client, dialect);
  const sessionEverywhere = createSession(client, observe, { levels });
  const stamps = deps.openStamps?.(reading, clock, sessionEverywhere) ?? plainStamps(clock);
  const writing = createSession(client, observe, { gate, replicasOf, limits: batchLimits, stamps });
  const ingest = wrapSession?.(writing, client) ?? writing;
  const packed = createHistoryReads(reading);
  const retry = new Retry({ logger, onRetry });
  const waiting = () => Math.max(permits.waiting, ingest.waiting);
  const everywhere = {
    session: sessionEverywhere,
    corrections: createCorrectionStore(sessionEverywhere),
    events: createEventStore(sessionEverywhere),
    deadLetters: createDeadLetterStore({ reading: sessionEverywhere, ingest }),
    samples: createSampleReads(sessionEverywhere, unwritten),
    packed: createHistoryReads(sessionEverywhere),
    scans: createScans(sessionEverywhere, dialect, unwritten),
    journal: createJournalStore(sessionEverywhere, { ingest, retry }),
  };
  return {
    /** setting `LATEST_GROUPS`: the number of partitions over which devices are spread */
    groups: retention.latestGroups,
    /** for the statements of features; their requests do not use the congestion window */
    session: reading,
    /** for those that conclude that nothing is missing: see consistency.ts */
    everywhere,
    write: createIngestWrites(ingest, { logger, retry, onLargePartition, unwritten }),
    retry,
    /** All other requests do not use the congestion window. */
    samples: createSampleReads(reading, unwritten),
    /** ingest sets the functions of its journal */
    unwritten,
    packed,
    scans: createScans(reading, dialect, unwritten),
    /** Readers read the progress in their data center. When it arrives there, all that it stands for has arrived. */
    packProgress: { ...createPackProgress(sessionEverywhere), read: createPackProgress(reading).read },
    /** The packer needs no window, because it rests while ingest waits. */
    packing: {
      isFar: levels.isFar,
      ...createUnpackedReads(sessionEverywhere),
      ...createHistoryWrites(sessionEverywhere),
      readStatistics: everywhere.packed.readRows,
      lateDayPage: createLateDays(sessionEverywhere).page,
      corrections: everywhere.corrections,
    },
    packLeases: createLeaseStore(reading, 'pack_lease'),
    devices: createRegistryStore(reading, unwritten),
    corrections: createCorrectionStore(reading),
    events: createEventStore(reading),
    retirement: createRetirementStore(reading),
    deadLetters: createDeadLetterStore({ reading, ingest }),
    fleet: createFleet({ session: reading, groups: retention.latestGroups, clock, onStaleIndex, unwritten }),
    health: {
      ...createHealth(reading, clock),
      isAuthenticated,
      nodes: () => nodesOf(client),
      pressure: () => ({
        in_flight: permits.inUse,
        window: window.size,
        window_limit: maxInFlight,
        waiting: waiting(),
      }),
      isPressed: () => waiting() > 0,
    },
    journal: createJournalStore(reading, { ingest, retry }),
    processes: createProcessStore(reading),
    stamps,
    watchedTime: createWatchedTimeStore(reading),
    async close() {
      await stamps.stop();
      await client.shutdown();
    },
  };
}

export type Store = ReturnType<typeof createStore>;

function createIngestWrites(
  session: Session,
  {
    logger,
    retry,
    onLargePartition,
    unwritten,
  }: {
    logger: Pick<Logger, 'info' | 'warn'>;
    retry: Retry;
    onLargePartition: () => void;
    unwritten: Unwritten;
  },
) {
  const watch = new PartitionWatch({ logger, onLarge: onLargePartition });
  const samples = new SampleWrites({ session, retry, watch });
  const latest = new LatestWrites({ session, retry, logger });
  const lastSeen = new LastSeenWrites({ session, retry });
  return {
    /** for the statements of features on the way to a commit; their requests use the congestion window */
    session,
    // Writes of samples are repeated until they are committed. The method is bound, because a wrapper would be one
    // more function call per message.
    samples: samples.write.bind(samples),
    latest: latest.write.bind(latest) as LatestWrites['write'],
    latestAgain: latest.writeNews.bind(latest) as LatestWrites['writeNews'],
    corrected: createCorrectedLatest(session),
    lastSeen: lastSeen.note.bind(lastSeen),
    observeBlocks: samples.observeBlocks.bind(samples),
    registry: createRegistryStore(session, unwritten),
    events: createEventStore(session),
    history: createHistoryWrites(session),
    lateDays: createLateDays(session),
    lateArrivals: createLateArrivals(session),
    outbox: createOutboxStore(session),
  };
}

export interface SendingHooks {
  /** default: nothing is logged */
  logger?: Pick<Logger, 'info' | 'warn'>;
  /** a request failed and will be repeated */
  onRetry?: () => void;
  /** an hour of a device grows too large for a server */
  onLargePartition?: () => void;
  /** changes the requests of ingest, for tests and benchmarks */
  wrapSession?: (session: Session, client: Client) => Session;
}

const SILENT: Pick<Logger, 'info' | 'warn'> = { info() {}, warn() {} };

export type DatabaseNode = { address: string; dataCenter: string | null; up: boolean };

export const nodesOf = (client: Client): DatabaseNode[] =>
  client.hosts
    .values()
    .map((host) => ({ address: host.address, dataCenter: host.datacenter ?? null, up: host.isUp() }))
    .sort((a, b) => (a.address < b.address ? -1 : 1));

/**
 * For exports and long series, which need many samples only once. They bypass the row cache, if the server
 * has one, and do not evict rows that other readers need.
 */
export function createScans(
  session: Session,
  { pastCache }: Pick<Dialect, 'pastCache'>,
  unwritten: Unwritten = NOTHING_UNWRITTEN,
) {
  const uncached: Session = {
    ...session,
    all: (statement, params, limit) =>
      session.all({ ...statement, cql: `${statement.cql}${pastCache}` }, params, limit),
  };
  return { samples: createSampleReads(uncached, unwritten), packed: createHistoryReads(uncached) };
}

const NOW = { name: 'clock', cql: 'SELECT now() AS now FROM system.local' };

export function createHealth(session: Session, clock: () => number) {
  return {
    /** Also checks that the database answers. @returns ms by which the local clock is ahead @throws `unavailable` */
    async clockDifference(): Promise<number> {
      const before = clock();
      const row = await session.one(NOW, []);
      const between = (before + clock()) / 2;
      return between - row?.['now'].getDate().getTime();
    },
  };
}

export type Health = ReturnType<typeof createHealth>;
