import { createMetrics } from '../observability/metrics.js';
import { createProcessStats } from '../observability/process-stats.js';
import { createClockGuard } from '../store/clock-guard.js';
import { connectStore } from '../store/index.js';
import { logSecurityProblems } from '../store/security-check.js';
import { createPermits, createWindow } from './backpressure/window.js';
import { createIngest } from './index.js';

/** @import { Logger } from 'pino' */
/** @import { MillraceError } from '../../common/errors.js' */
/** @import { Config } from '../../common/settings/config.js' */
/** @import { Metrics } from '../observability/metrics.js' */
/** @import { ClockGuard } from '../store/clock-guard.js' */
/** @import { DatabaseNode } from '../store/index.js' */
/** @import { Permits } from './backpressure/window.js' */
/** @import { Ingest, Publish } from './index.js' */
/** @import { Send } from './pipeline.js' */

/**
 * What every process has: the database, and the way into it through a window that follows what it can take.
 *
 * @param {object} parts
 * @param {Config} parts.config
 * @param {string} parts.version
 * @param {Logger} parts.logger
 * @param {() => number} [parts.clock] epoch ms
 * @param {Send} [parts.send] publishes to devices; default: nobody listens
 * @param {Publish} [parts.publish] tells readers; default: nobody listens
 * @param {() => number} [parts.readers] how many follow the stream; default: this process has none
 * @param {typeof connectStore} [parts.openStore]
 * @param {() => Promise<number>} [parts.clockDifference] of `clock` to the database's, in ms; a test whose clock is its own knows better
 * @throws {MillraceError} `database_away`, `bad_settings`, `schema_differs`
 */
export async function connectPipeline(parts) {
  const { config, version, logger, clock = Date.now, openStore = connectStore, send, publish } = parts;
  const metrics = createMetrics({ version, role: config.role });
  const window = createWindow({ most: config.ingest.maxInFlight });
  const permits = createPermits(window);
  /** Requests that wait for a place in the window, and writes that will leave together. */
  const waiting = () => Math.max(permits.waiting, store?.waiting() ?? 0);
  const processStats = createProcessStats({
    clock,
    pressure: () => ({
      in_flight: permits.inUse,
      window: window.size,
      window_most: config.ingest.maxInFlight,
      waiting: waiting(),
    }),
    readers: parts.readers,
  });
  const store = await openStore({
    cql: config.cql,
    retention: config.retention,
    gate: permits,
    observe: metrics.databaseSeconds.observe.bind(metrics.databaseSeconds),
    onStaleIndex: (index) => metrics.staleIndexRows.inc({ index }),
    onBrokenRule: (habit) => metrics.brokenQueryRules.inc({ habit }),
    clock,
  });
  await logSecurityProblems({ check: store.securityCheck, username: config.cql.username, logger });
  const difference = parts.clockDifference ?? store.health.clockDifference;
  const clockGuard = createClockGuard({ clock, difference, logger });
  const ingest = createIngest({
    config,
    store,
    send,
    publish,
    clock,
    clockGuard,
    logger,
    metrics,
    processStats,
  });
  exposePipeline(metrics, {
    permits,
    waiting,
    window,
    windowMost: config.ingest.maxInFlight,
    ingest,
    clockGuard,
    nodes: store.nodes,
  });
  const isPressed = () => waiting() > 0;
  return { metrics, processStats, store, clockGuard, ingest, isPressed };
}

/** @typedef {Awaited<ReturnType<typeof connectPipeline>>} Pipeline */

/**
 * What Prometheus is told of the way into the database as it is when it asks.
 *
 * @param {Metrics} metrics
 * @param {object} parts
 * @param {Permits} parts.permits
 * @param {() => number} parts.waiting
 * @param {ReturnType<typeof createWindow>} parts.window
 * @param {number} parts.windowMost `INGEST_MAX_IN_FLIGHT`
 * @param {Ingest} parts.ingest
 * @param {ClockGuard} parts.clockGuard
 * @param {() => DatabaseNode[]} parts.nodes
 */
function exposePipeline(metrics, { permits, waiting, window, windowMost, ingest, clockGuard, nodes }) {
  const { gauge, states } = metrics;
  gauge('iot_ingest_in_flight', 'Requests to the database in flight', () => permits.inUse);
  gauge(
    'iot_ingest_window',
    'Requests to the database that may be in flight, by what it can take now',
    () => window.size,
  );
  gauge(
    'iot_ingest_window_most',
    'The most that the window may grow to: INGEST_MAX_IN_FLIGHT',
    () => windowMost,
  );
  gauge('iot_ingest_waiting', 'Requests that wait for a place in the window', waiting);
  gauge(
    'iot_ingest_unsettled_messages',
    'Messages being settled: taken from the broker, not acknowledged yet',
    () => ingest.progress.unsettled,
  );
  gauge('iot_ingest_unsettled_bytes', 'Bytes of messages being settled', () => ingest.unsettledBytes);
  gauge(
    'iot_ingest_submitted_bytes',
    'Bytes of posts that are received or settled',
    () => ingest.submittedBytes,
  );
  gauge(
    'iot_ingest_standstill_seconds',
    'Since a message was settled and the database answered, while messages wait for it; 0: none waits',
    () => ingest.progress.standstillMs / 1000,
  );
  gauge(
    'iot_clock_difference_seconds',
    "How far this machine's clock is ahead of the database's; left out until they are compared",
    () => clockGuard.differenceMs / 1000,
  );
  states('iot_db_nodes', 'Nodes of the database as this process sees them: up, down', () => {
    const all = nodes();
    const up = all.filter((node) => node.up).length;
    return { up, down: all.length - up };
  });
}
