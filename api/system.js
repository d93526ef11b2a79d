import { createApp } from './http/app.js';
import { createCursors } from './http/cursor.js';
import { createHttpServer } from './http/server.js';
import { createIngest } from './ingest/index.js';
import { createIntake } from './ingest/intake.js';
import { createPermits } from './ingest/permits.js';
import { createLive } from './live.js';
import { createMetrics } from './metrics.js';
import { PERIODS_MS } from './periods.js';
import { createProgress } from './progress.js';
import { createReadiness } from './readiness.js';
import { cursorSecret } from './secret.js';
import { connectStore } from './store/index.js';
import { createVitals } from './vitals.js';

/**
 * The whole system, in the order in which data flows: broker -> ingest -> store -> http.
 *
 * @param {object} parts
 * @param {import('../common/settings.js').Config} parts.config
 * @param {string} parts.version
 * @param {import('pino').Logger} parts.logger
 * @param {(error: Error) => void} parts.onFatal told when it cannot go on
 * @param {() => number} [parts.clock] epoch ms
 * @param {import('./periods.js').Periods} [parts.periods]
 * @throws {import('../common/errors.js').MillraceError} what keeps it from starting
 */
export async function startSystem(parts) {
  const { config, version, logger, onFatal, clock = Date.now, periods = PERIODS_MS } = parts;
  const metrics = createMetrics({ version, role: config.role });
  const permits = createPermits(config.ingest.maxInFlight);
  const vitals = createVitals({ clock, inFlight: () => permits.inUse });
  const live = createLive();
  const store = await connectStore({
    cql: config.cql,
    retention: config.retention,
    gate: permits.run,
    observe: (query, seconds, ok) => metrics.databaseSeconds.observe({ query, ok: String(ok) }, seconds),
    onStaleIndex: (index) => metrics.staleIndexRows.inc({ index }),
    clock,
  });
  const ingest = createIngest({ config, store, live, clock, logger, metrics, vitals });
  const progress = createProgress();
  const intake = createIntake({
    config,
    accept: progress.watch(ingest.accept),
    room: ingest.room,
    progress,
    isHopeless: () => ingest.isStuck,
    clock,
    logger,
    metrics,
    onFatal,
    keepAliveMs: periods.keepAlive,
  });
  const readiness = createReadiness({
    health: store.health,
    checks: { broker: intake.check, acknowledgements: progress.check },
  });
  const { app, stop: stopStreams } = createApp({
    store,
    cursors: createCursors({
      secret: config.http.cursorSecret ?? (await cursorSecret(config.dataDir)),
      clock,
    }),
    live,
    vitals,
    readiness,
    groups: config.retention.latestGroups,
    historyDays: config.retention.historyDays,
    maxClockSkewMs: config.ingest.maxClockSkewMs,
    host: config.http.host,
    apiToken: config.http.apiToken,
    clock,
    logger,
    metrics,
  });
  const http = createHttpServer({ app, host: config.http.host, port: config.http.port, stopStreams });
  metrics.gauge('iot_ingest_in_flight', 'Requests to the database in flight', () => permits.inUse);
  metrics.gauge('iot_ingest_unsettled_bytes', 'Bytes of messages being settled', () => ingest.unsettledBytes);

  /** The way back: nothing new, what is under way is settled, then the rest. */
  async function stop() {
    // Readers get their answers meanwhile.
    const served = http.stop();
    await intake.drain();
    ingest.giveUp();
    await Promise.all([intake.stop(), served]);
    await store.close();
  }

  try {
    await ingest.start();
    await intake.start();
    await http.start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    stop,
    httpPort: http.port,
    mqttPort: intake.port,
  };
}

/** @typedef {Awaited<ReturnType<typeof startSystem>>} System */
