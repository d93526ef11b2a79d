import { EventEmitter } from 'node:events';
import { PERIODS_MS } from '../common/periods.js';
import { createAccounts } from './access/credentials/accounts.js';
import { createCredentialService, revokeBefore } from './access/credentials/credential-service.js';
import { createAccess } from './access/http/index.js';
import { createTls } from './access/tls/index.js';
import { createPacking } from './history/packing/index.js';
import { createReading } from './history/reading/index.js';
import { createApi } from './http/api.js';
import { createApp } from './http/app.js';
import { createCursors, cursorSecret } from './http/cursor.js';
import { createHttpServer } from './http/server.js';
import { connectPipeline } from './ingest/connect.js';
import { createLive } from './live/index.js';
import { createInstallationStats } from './live/installation-stats.js';
import { createMessageSource } from './mqtt/index.js';
import { createContext } from './observability/context.js';
import { createHeartbeat, createProcessWatch, processName } from './observability/heartbeat.js';
import { createReadiness } from './observability/readiness.js';

/** @import { Logger } from 'pino' */
/** @import { MillraceError } from '../common/errors.js' */
/** @import { Periods } from '../common/periods.js' */
/** @import { Config } from '../common/settings/config.js' */
/** @import { Rate } from './access/http/rates.js' */
/** @import { Publish } from './ingest/index.js' */
/** @import { Device, Sensor } from './ingest/registry/cache.js' */
/** @import { Heartbeat } from './observability/heartbeat.js' */
/** @import { connectStore } from './store/index.js' */

/** Wrong tokens per address. */
const WRONG_TOKENS = { most: 10, windowMs: 60_000 };

/**
 * Starts the whole system, in the order in which data flows: broker -> ingest -> store -> http, and packing next to it. A process with
 * the ROLE `http` has no broker and ingests what clients post to it. A process with the ROLE `ingest` answers only health checks and
 * metrics.
 *
 * @param {object} parts
 * @param {Config} parts.config
 * @param {string} parts.version
 * @param {Logger} parts.logger
 * @param {(error: Error) => void} parts.onFatal called when the process cannot continue
 * @param {() => number} [parts.clock] epoch ms
 * @param {Periods} [parts.periods]
 * @param {Rate} [parts.wrongTokens] limit of wrong tokens per address
 * @param {typeof connectStore} [parts.openStore] benchmarks replace the store
 * @param {typeof createMessageSource} [parts.openSource] benchmarks replace the broker
 * @param {() => Promise<number>} [parts.clockDifference] of `clock` to the database's, in ms, for tests with a clock of their own
 * @throws {MillraceError} the reason why it cannot start
 */
export async function startSystem(parts) {
  const { config, version, onFatal, periods = PERIODS_MS, wrongTokens = WRONG_TOKENS } = parts;
  const { openStore, openSource = createMessageSource, clockDifference } = parts;
  const context = createContext(parts);
  const { clock, logger, metrics } = context;
  const tls = createTls(context, { everyMs: periods.certificates });
  // Live changes need the message source, which needs ingest, which publishes live changes. The event breaks this circle.
  /** @type {EventEmitter<{ committed: [device: Device, changed: Sensor[]] }>} */
  const events = new EventEmitter();
  const pipeline = await connectPipeline(context, {
    openStore,
    clockDifference,
    send: (topic, payload) => messageSource?.send(topic, payload),
    // Bound, so that no function of this file runs for each message.
    publish: /** @type {Publish} */ (/** @type {Function} */ (events.emit).bind(events, 'committed')),
    readers: () => api?.readers() ?? 0,
  });
  const { processStats, store, clockGuard, ingest, isPressed } = pipeline;
  metrics.certificates(tls.states);
  const takes = config.role !== 'http';
  const serves = config.role !== 'ingest';
  const shares = config.mqtt.url !== undefined;
  const accounts = createAccounts({ store: store.credentials, mqtt: config.mqtt });
  const credentials = createCredentialService({
    store: store.credentials,
    clock,
    installation: config.mqtt.username,
    onChange: async (device) => messageSource?.recheck(device),
  });
  const messageSource = takes
    ? openSource(context, {
        tls: tls.mqtt,
        handleMessage: ingest.handleMessage,
        ingest,
        accounts,
        periods,
        onFatal,
      })
    : null;
  const packing = takes
    ? createPacking(context, { store, clockGuard, isPressed, pauseMs: periods.pack })
    : null;
  const live = createLive(context, {
    brokerClients: {
      isWanted: messageSource?.hasFollowers ?? (() => false),
      send: (topic, payload) => messageSource?.send(topic, payload),
    },
    keepAliveMs: periods.keepAlive,
  });
  events.on('committed', live.publishChanges);
  const processes = createProcessWatch(context, {
    store: store.processes,
    shares,
    everyMs: periods.heartbeat,
  });
  const stats = createInstallationStats({ processStats, live, serves, clock });
  const secret = config.http.cursorSecret ?? (await cursorSecret(config.dataDir));
  const access = createAccess({ settings: config.http, secret, attempts: wrongTokens, clock, logger });
  const api = serves
    ? createApi(context, {
        access,
        store,
        reading: createReading(store),
        cursors: createCursors({ secret, clock }),
        submit: ingest.submit,
        replay: ingest.replay,
        retire: revokeBefore({ retire: ingest.retire, forget: credentials.forget }),
        credentials,
        live,
        stats,
        resyncMs: periods.heal,
      })
    : null;
  const readiness = createReadiness({
    health: store.health,
    checks: { ...messageSource?.checks },
    notes: api ? live.checks : {},
  });
  const { host, port } = config.http;
  const http = createHttpServer({
    app: createApp({ api, readiness, version, access, settings: config.http, logger, metrics }),
    host,
    port,
    tls: tls.http,
    stopStreams: () => api?.stopStreams(),
    requestMs: periods.request,
    stallMs: periods.stall,
    metrics,
  });

  /** @type {Heartbeat | undefined} */
  let heartbeat;

  /** The way back: nothing new, what is under way is settled, and readers get their answers; then the rest. */
  async function stop() {
    await Promise.all([messageSource?.stop(), packing?.stop(), http.stop()]);
    ingest.abort();
    stats.stop();
    processes.stop();
    await Promise.all([live.stop(), heartbeat?.stop()]);
    await store.close();
  }

  try {
    await ingest.start();
    await live.start();
    await messageSource?.start();
    packing?.start();
    await http.start();
    const clientId = processName(config, http.port);
    stats.start(clientId);
    heartbeat = createHeartbeat(context, {
      store: store.processes,
      process: { clientId, role: config.role, version },
      read: () => ({
        ...processStats.read(),
        broker: messageSource?.checks.broker() ?? null,
        shares: takes && shares,
      }),
      everyMs: periods.heartbeat,
    });
    await heartbeat.start();
    await processes.start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    stop,
    httpPort: http.port,
    mqttPort: messageSource?.mqttPort ?? 0,
  };
}

/** @typedef {Awaited<ReturnType<typeof startSystem>>} System */
