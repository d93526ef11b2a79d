import { createApi } from './http/api.js';
import { createApp } from './http/app.js';
import { createCursors } from './http/cursor.js';
import { createHttpServer } from './http/server.js';
import { createPermits } from './ingest/permits.js';
import { createLive } from './live.js';
import { createMetrics } from './metrics.js';
import { PERIODS_MS } from './periods.js';
import { createReadiness } from './readiness.js';
import { createReceiving } from './receiving.js';
import { cursorSecret } from './secret.js';
import { connectStore } from './store/index.js';
import { createVitals } from './vitals.js';

/**
 * The whole system, in the order in which data flows: broker -> ingest -> store -> http. A process whose ROLE is `http`
 * takes no messages; one whose ROLE is `ingest` serves nobody, and only tells how it is.
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
  const receiving =
    config.role === 'http'
      ? null
      : createReceiving({ config, store, live, vitals, clock, periods, logger, metrics, onFatal });
  const api =
    config.role === 'ingest'
      ? null
      : createApi({
          store,
          cursors: createCursors({
            secret: config.http.cursorSecret ?? (await cursorSecret(config.dataDir)),
            clock,
          }),
          live,
          vitals,
          groups: config.retention.latestGroups,
          historyDays: config.retention.historyDays,
          maxClockSkewMs: config.ingest.maxClockSkewMs,
          clock,
          logger,
          metrics,
        });
  const readiness = createReadiness({ health: store.health, checks: { ...receiving?.checks } });
  const { host, port, apiToken } = config.http;
  const http = createHttpServer({
    app: createApp({ api, readiness, host, apiToken, logger, metrics }),
    host,
    port,
    stopStreams: () => api?.stopStreams(),
  });
  metrics.gauge('iot_ingest_in_flight', 'Requests to the database in flight', () => permits.inUse);

  /** The way back: nothing new, what is under way is settled, and readers get their answers; then the rest. */
  async function stop() {
    await Promise.all([receiving?.stop(), http.stop()]);
    await store.close();
  }

  try {
    await receiving?.start();
    await http.start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    stop,
    httpPort: http.port,
    mqttPort: receiving?.mqttPort ?? 0,
  };
}

/** @typedef {Awaited<ReturnType<typeof startSystem>>} System */
