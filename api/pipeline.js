import { noticeGuard } from './guard-notice.js';
import { createPermits } from './ingest/backpressure/permits.js';
import { createWindow } from './ingest/backpressure/window.js';
import { createIngest } from './ingest/index.js';
import { createMetrics } from './metrics.js';
import { exposePipeline } from './pipeline-gauges.js';
import { connectStore } from './store/index.js';
import { createTrustedClock } from './trusted-clock.js';
import { createVitals } from './vitals.js';

/**
 * What every process has: the database, and the way into it through a window that follows what it can take.
 *
 * @param {object} parts
 * @param {import('../common/settings/index.js').Config} parts.config
 * @param {string} parts.version
 * @param {import('pino').Logger} parts.logger
 * @param {() => number} [parts.clock] epoch ms
 * @param {import('./ingest/intake.js').Send} [parts.send] publishes to devices; default: nobody listens
 * @param {import('./ingest/index.js').Publish} [parts.publish] tells readers; default: nobody listens
 * @param {() => number} [parts.readers] how many follow the stream; default: this process has none
 * @param {typeof connectStore} [parts.openStore]
 * @param {() => Promise<number>} [parts.clockDifference] of `clock` to the database's, in ms; a test whose clock is its own knows better
 * @throws {import('../common/errors.js').MillraceError} `database_away`, `bad_settings`, `schema_differs`
 */
export async function connectPipeline(parts) {
  const { config, version, logger, clock = Date.now, openStore = connectStore, send, publish } = parts;
  const metrics = createMetrics({ version, role: config.role });
  const window = createWindow({ most: config.ingest.maxInFlight });
  const permits = createPermits(window);
  /** Requests that wait for a place in the window, and writes that will leave together. */
  const waiting = () => Math.max(permits.waiting, store?.waiting() ?? 0);
  const vitals = createVitals({
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
    observe: (query, seconds, ok) => metrics.databaseSeconds.observe({ query, ok: String(ok) }, seconds),
    onStaleIndex: (index) => metrics.staleIndexRows.inc({ index }),
    onWrongHabit: (habit) => metrics.wrongHabits.inc({ habit }),
    clock,
  });
  await noticeGuard({ guard: store.guard, username: config.cql.username, logger });
  const difference = parts.clockDifference ?? store.health.clockDifference;
  const trustedClock = createTrustedClock({ clock, difference, logger });
  const ingest = createIngest({
    config,
    store,
    send,
    publish,
    clock,
    trustedClock,
    logger,
    metrics,
    vitals,
  });
  exposePipeline(metrics, {
    permits,
    waiting,
    window,
    windowMost: config.ingest.maxInFlight,
    ingest,
    trustedClock,
    nodes: store.nodes,
  });
  const isPressed = () => waiting() > 0;
  return { metrics, vitals, store, trustedClock, ingest, isPressed };
}

/** @typedef {Awaited<ReturnType<typeof connectPipeline>>} Pipeline */
