import { ProcessStats } from '../observability/process-stats.js';
import { ClockGuard } from '../store/clock-guard.js';
import { connectStore } from '../store/index.js';
import { logSecurityProblems } from '../store/security-check.js';
import { CongestionWindow, Permits } from '../store/sending/congestion-window.js';
import { createIngest } from './index.js';
import { Outbox } from './outbox.js';

/** @import { MillraceError } from '../../common/errors.js' */
/** @import { Context } from '../observability/context.js' */
/** @import { Metrics } from '../observability/metrics.js' */
/** @import { DatabaseNode, Store } from '../store/index.js' */
/** @import { Ingest, Publish } from './index.js' */
/** @import { Send } from './pipeline.js' */
/** @import { BlockObserver } from './sample-writer.js' */

/**
 * Connects the database and the ingest pipeline of a process. A congestion window bounds the requests to the database.
 *
 * @param {Context} context
 * @param {object} [deps]
 * @param {Send} [deps.send] publishes to devices; default: does nothing
 * @param {Publish} [deps.publish] publishes live changes; default: does nothing
 * @param {(parts: { store: Store, clockGuard: ClockGuard, isPressed: () => boolean, outbox: Outbox | null }) => BlockObserver} [deps.observeBlocks] makes the
 *   receiver of committed blocks; default: there is none
 * @param {() => number} [deps.readers] number of clients of the stream; default: 0
 * @param {typeof connectStore} [deps.openStore]
 * @param {() => Promise<number>} [deps.clockDifference] of `clock` to the database's, in ms; for tests with a clock of their own
 * @throws {MillraceError} `database_away`, `bad_settings`, `schema_differs`
 */
export async function connectPipeline(context, deps = {}) {
  const { config, clock, logger, metrics } = context;
  const { openStore = connectStore, send, publish } = deps;
  const window = new CongestionWindow({ max: config.ingest.maxInFlight });
  const permits = new Permits(window);
  /** Requests that wait for the window, or writes that wait to be merged, whichever are more. */
  const waiting = () => Math.max(permits.waiting, store?.waiting() ?? 0);
  const processStats = new ProcessStats({
    clock,
    pressure: () => ({
      in_flight: permits.inUse,
      window: window.size,
      window_limit: config.ingest.maxInFlight,
      waiting: waiting(),
    }),
    readers: deps.readers,
  });
  const store = await openStore({
    cql: config.cql,
    retention: config.retention,
    gate: permits,
    observe: metrics.databaseSeconds.observe.bind(metrics.databaseSeconds),
    onStaleIndex: (index) => metrics.staleIndexRows.inc({ index }),
    onBrokenRule: (rule) => metrics.brokenQueryRules.inc({ rule }),
    clock,
  });
  await logSecurityProblems({ check: store.securityCheck, username: config.cql.username, logger });
  const difference = deps.clockDifference ?? store.health.clockDifference;
  const clockGuard = new ClockGuard({ clock, difference, logger });
  const isPressed = () => waiting() > 0;
  const outbox = config.stream.kafka ? new Outbox({ store: store.outbox, clock }) : null;
  const blocks = deps.observeBlocks?.({ store, clockGuard, isPressed, outbox });
  const ingest = createIngest(context, { store, send, publish, blocks, outbox, clockGuard, processStats });
  exposePipeline(metrics, {
    permits,
    waiting,
    window,
    windowMost: config.ingest.maxInFlight,
    ingest,
    clockGuard,
    nodes: store.nodes,
  });
  return { processStats, store, clockGuard, ingest, isPressed, outbox };
}

/** @typedef {Awaited<ReturnType<typeof connectPipeline>>} Pipeline */

/**
 * Registers the gauges of the pipeline. Prometheus reads their values at each scrape.
 *
 * @param {Metrics} metrics
 * @param {object} deps
 * @param {Permits} deps.permits
 * @param {() => number} deps.waiting
 * @param {CongestionWindow} deps.window
 * @param {number} deps.windowMost `INGEST_MAX_IN_FLIGHT`
 * @param {Ingest} deps.ingest
 * @param {ClockGuard} deps.clockGuard
 * @param {() => DatabaseNode[]} deps.nodes
 */
function exposePipeline(metrics, { permits, waiting, window, windowMost, ingest, clockGuard, nodes }) {
  const { gauge, states } = metrics;
  gauge('iot_ingest_in_flight', 'Running requests to the database', () => permits.inUse);
  gauge(
    'iot_ingest_window',
    'Congestion window: the current limit of running requests to the database',
    () => window.size,
  );
  gauge('iot_ingest_window_limit', 'Upper limit of the window: INGEST_MAX_IN_FLIGHT', () => windowMost);
  gauge('iot_ingest_waiting', 'Requests to the database that wait for a place in the window', waiting);
  gauge(
    'iot_ingest_unsettled_messages',
    'Messages that are being processed: received, but not acknowledged yet',
    () => ingest.progress.unsettled,
  );
  gauge(
    'iot_ingest_unsettled_bytes',
    'Bytes of messages that are being processed',
    () => ingest.unsettledBytes,
  );
  gauge(
    'iot_ingest_submitted_bytes',
    'Bytes of posts that are being received or processed',
    () => ingest.submittedBytes,
  );
  gauge(
    'iot_ingest_standstill_seconds',
    'Time since the last processed message or answer of the database, while messages wait; 0: no message waits',
    () => ingest.progress.standstillMs / 1000,
  );
  gauge(
    'iot_clock_difference_seconds',
    'Difference between the clock of this machine and the clock of the database, positive if ahead; missing until it is measured',
    () => clockGuard.differenceMs / 1000,
  );
  states('iot_db_nodes', 'Nodes of the database, as seen by this process: up, down', () => {
    const all = nodes();
    const up = all.filter((node) => node.up).length;
    return { up, down: all.length - up };
  });
}
