import { createAccounts } from './credentials/accounts.js';
import { createKeeper } from './credentials/keeper.js';
import { withRights } from './credentials/retirement.js';
import { createHeartbeat, processName } from './heartbeat.js';
import { createAccess } from './http/access/index.js';
import { createApi } from './http/api.js';
import { createApp } from './http/app.js';
import { createCursors } from './http/cursor.js';
import { createHttpServer } from './http/server.js';
import { createIntake } from './ingest/intake.js';
import { createInstallationStats } from './installation-stats.js';
import { createLive } from './live/index.js';
import { createPacking } from './packing/index.js';
import { PERIODS_MS } from './periods.js';
import { connectPipeline } from './pipeline.js';
import { createProcessWatch } from './process-watch.js';
import { createReadiness } from './readiness.js';
import { createReading } from './reading/index.js';
import { createReceiving } from './receiving.js';
import { cursorSecret } from './secret.js';
import { createTls } from './tls/index.js';

/** So many wrong tokens an address may show. */
const WRONG_TOKENS = { most: 10, windowMs: 60_000 };

/**
 * The whole system, in the order in which data flows: broker -> ingest -> store -> http; beside it, packing. A process whose ROLE is `http`
 * has no broker, and ingests what is posted to it; one whose ROLE is `ingest` serves nobody, and only tells how it is.
 *
 * @param {object} parts
 * @param {import('../common/settings/index.js').Config} parts.config
 * @param {string} parts.version
 * @param {import('pino').Logger} parts.logger
 * @param {(error: Error) => void} parts.onFatal told when it cannot go on
 * @param {() => number} [parts.clock] epoch ms
 * @param {import('./periods.js').Periods} [parts.periods]
 * @param {import('./http/access/rates.js').Rate} [parts.wrongTokens] so many of them an address may show
 * @param {typeof import('./store/index.js').connectStore} [parts.openStore] benchmarks compare other ways to store with ours
 * @param {typeof createIntake} [parts.openIntake] and leave the broker away
 * @param {() => Promise<number>} [parts.clockDifference] of `clock` to the database's, in ms; a test whose clock is its own knows better
 * @throws {import('../common/errors.js').MillraceError} what keeps it from starting
 */
export async function startSystem(parts) {
  const { config, version, logger, onFatal, clock = Date.now, periods = PERIODS_MS } = parts;
  const { wrongTokens = WRONG_TOKENS } = parts;
  const { openStore, openIntake = createIntake, clockDifference } = parts;
  const tls = createTls({ config, everyMs: periods.certificates, logger });
  const pipeline = await connectPipeline({
    config,
    version,
    logger,
    clock,
    openStore,
    clockDifference,
    send: (topic, payload) => receiving?.send(topic, payload),
    publish: (device, changed) => live.note(device, changed),
    readers: () => api?.readers() ?? 0,
  });
  const { metrics, vitals, store, trustedClock, ingest, isPressed } = pipeline;
  metrics.certificates(tls.states);
  const takes = config.role !== 'http';
  const serves = config.role !== 'ingest';
  const shares = config.mqtt.url !== undefined;
  const accounts = createAccounts({ store: store.credentials, mqtt: config.mqtt });
  const credentials = createKeeper({
    store: store.credentials,
    clock,
    installation: config.mqtt.username,
    onChange: async (device) => receiving?.recheck(device),
  });
  const receiving = takes
    ? createReceiving({
        config,
        tls: tls.mqtt,
        ingest,
        accounts,
        openIntake,
        clock,
        periods,
        logger,
        metrics,
        onFatal,
      })
    : null;
  const packing = takes
    ? createPacking({ config, store, clock, trustedClock, isPressed, pauseMs: periods.pack, logger, metrics })
    : null;
  const live = createLive({
    config,
    outside: {
      isWanted: () => receiving?.hasFollowers ?? false,
      send: (topic, payload) => receiving?.send(topic, payload),
    },
    keepAliveMs: periods.keepAlive,
    logger,
    metrics,
  });
  const processes = createProcessWatch({
    store: store.processes,
    shares,
    everyMs: periods.heartbeat,
    clock,
    metrics,
    logger,
  });
  const stats = createInstallationStats({ vitals, live, serves, clock });
  const secret = config.http.cursorSecret ?? (await cursorSecret(config.dataDir));
  const access = createAccess({ settings: config.http, secret, attempts: wrongTokens, clock, logger });
  const api = serves
    ? createApi({
        access,
        store,
        reading: createReading(store),
        cursors: createCursors({ secret, clock }),
        submit: ingest.submit,
        replay: ingest.replay,
        retire: withRights({ retire: ingest.retire, forget: credentials.forget }),
        credentials,
        live,
        stats,
        healMs: periods.heal,
        groups: config.retention.latestGroups,
        historyDays: config.retention.historyDays,
        maxClockSkewMs: config.ingest.maxClockSkewMs,
        maxMessageBytes: config.ingest.maxMessageBytes,
        clock,
        logger,
        metrics,
      })
    : null;
  const readiness = createReadiness({
    health: store.health,
    checks: { ...receiving?.checks },
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

  /** @type {import('./heartbeat.js').Heartbeat | undefined} */
  let heartbeat;

  /** The way back: nothing new, what is under way is settled, and readers get their answers; then the rest. */
  async function stop() {
    await Promise.all([receiving?.stop(), packing?.stop(), http.stop()]);
    ingest.giveUp();
    stats.stop();
    processes.stop();
    await Promise.all([live.stop(), heartbeat?.stop()]);
    await store.close();
  }

  try {
    await ingest.start();
    await live.start();
    await receiving?.start();
    packing?.start();
    await http.start();
    const clientId = processName(config, http.port);
    stats.start(clientId);
    heartbeat = createHeartbeat({
      store: store.processes,
      process: { clientId, role: config.role, version },
      read: () => ({ ...vitals.read(), broker: receiving?.checks.broker() ?? null, shares: takes && shares }),
      everyMs: periods.heartbeat,
      clock,
      logger,
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
    mqttPort: receiving?.mqttPort ?? 0,
  };
}

/** @typedef {Awaited<ReturnType<typeof startSystem>>} System */
