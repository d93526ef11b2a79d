import { EventEmitter } from 'node:events';
import type { Logger } from 'pino';
import { PERIODS_MS, type Periods } from '../common/periods.ts';
import type { Config } from '../common/settings/config.ts';
import type { Identity } from '../schema/ids.ts';
import { Accounts, createCredentialService, revokeBefore } from './access/credentials/index.ts';
import { createAccess } from './access/http/index.ts';
import type { Rate } from './access/http/rate-limits.ts';
import { createTls } from './access/tls/index.ts';
import { openDatabase } from './database.ts';
import type { FeatureContext, RunningFeature } from './feature.ts';
import { announcedKinds, CONTRACTS, FEATURES, ingestSlots } from './features/index.ts';
import { createPacking } from './history/packing/index.ts';
import { createReading } from './history/reading/index.ts';
import {
  createApi,
  createApp,
  createConcurrencyLimits,
  createCursors,
  createHttpServer,
  createStream,
  cursorSecret,
  MAX_CONCURRENT,
} from './http/index.ts';
import type { RouteContext } from './http/route.ts';
import { createIngest, type Publish } from './ingest/index.ts';
import type { Send } from './ingest/pipeline.ts';
import type { Device } from './ingest/registry/cache.ts';
import { createLive, InstallationStats, NOBODY } from './live/index.ts';
import { createMessageSource } from './mqtt/index.ts';
import {
  createContext,
  Heartbeat,
  ProcessHealth,
  ProcessWatch,
  processName,
  Readiness,
  UnwatchedTime,
  WatchedTime,
} from './observability/index.ts';
import type { connectStore } from './store/index.ts';

/** Limit for one address. */
const WRONG_TOKENS = { most: 10, windowMs: 60_000 };

/**
 * Starts the database first, then ingest, the message source, packing, live values, features and HTTP. A process with the ROLE `http` has no
 * broker and ingests the measurements that clients post to it. A process with the ROLE `ingest` answers only health checks and metrics.
 * Throws a MillraceError with the reason if the process cannot start.
 */
export async function startSystem(parts: {
  config: Config;
  version: string;
  logger: Logger;
  onFatal: (error: Error) => void;
  clock?: () => number;
  periods?: Periods;
  wrongTokens?: Rate;
  /** benchmarks replace it */
  openStore?: typeof connectStore;
  /** benchmarks replace it */
  openSource?: typeof createMessageSource;
  /** difference between `clock` and the clock of the database, in ms; only for tests that set `clock` */
  clockDifference?: () => Promise<number>;
}) {
  const { config, version, onFatal, periods = PERIODS_MS, wrongTokens = WRONG_TOKENS } = parts;
  const { openStore, openSource = createMessageSource, clockDifference } = parts;
  const context = createContext(parts);
  const { clock, logger, metrics } = context;
  const tls = createTls(context, { everyMs: periods.certificates });
  // Ingest publishes live changes and sends commands to devices. Publishing and sending need the message source, and the
  // message source needs ingest. Events break this dependency cycle.
  const events: EventEmitter<{
    committed: Parameters<Publish>;
    command: Parameters<Send>;
    state: [Device];
    registered: [Device];
  }> = new EventEmitter();
  const { store, clockGuard } = await openDatabase(context, { openStore, clockDifference });
  const ingest = createIngest(context, {
    store,
    ...ingestSlots(config),
    clockGuard,
    send: (...command) => void events.emit('command', ...command),
    onState: (device) => void events.emit('state', device),
    onRegistered: (device) => void events.emit('registered', device),
    // The function is bound, so that no wrapper function runs for each message.
    publish: (events.emit as (event: 'committed', ...changed: Parameters<Publish>) => boolean).bind(
      events,
      'committed',
    ),
  });
  const { processStats } = ingest;
  const features: RunningFeature[] = [];
  metrics.certificates(tls.states);
  const takes = config.role !== 'http';
  const serves = config.role !== 'ingest';
  const shares = config.mqtt.url !== undefined;
  const accounts = new Accounts({ store: store.credentials, mqtt: config.mqtt });
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
  if (messageSource) events.on('command', messageSource.send);
  const credentials = createCredentialService({
    store: store.credentials,
    clock,
    installation: config.mqtt.username,
    onChange: async (device) => messageSource?.recheck(device),
  });
  const packing = takes
    ? createPacking(context, {
        store,
        clockGuard,
        isPressed: store.health.isPressed,
        pauseMs: periods.pack,
      })
    : null;
  const live = createLive(context, {
    brokerClients: {
      followers: messageSource?.followers ?? NOBODY,
      send: (topic, payload, retain, waited) => messageSource?.send(topic, payload, retain, waited),
    },
    keepAliveMs: periods.keepAlive,
  });
  events.on('committed', live.publishChanges);
  events.on('state', live.publishState);
  const reading = createReading(store);
  const watches = () => Boolean(messageSource?.checks.broker().ok) && clockGuard.isTrusted;
  const unwatchedTime = new UnwatchedTime(context, { store: store.watchedTime, everyMs: periods.heartbeat });
  const revokeAndRetire = revokeBefore({ retire: ingest.retire, forget: credentials.forget });
  async function retire(device: Identity) {
    const before = await ingest.find(device);
    const isRetired = await revokeAndRetire(device);
    if (isRetired && before) live.remove(before);
    // Also if the device is already retired: after a failure of this step, a second call of `retire` repeats it.
    for (const { onRetired } of features) await onRetired?.(device, before);
    return isRetired;
  }
  const processes = new ProcessWatch(context, {
    store: store.processes,
    shares,
    everyMs: periods.heartbeat,
  });
  const checks = { ...messageSource?.checks };
  const notes = serves ? live.checks : {};
  const readiness = new Readiness({ health: store.health, checks, notes });
  const processHealth = new ProcessHealth({
    role: config.role,
    // A test that sets `clock` also sets `clockDifference`, so the health report uses this difference.
    readiness: clockDifference ? new Readiness({ health: { clockDifference }, checks, notes }) : readiness,
    progress: ingest.progress,
  });
  const stats = new InstallationStats({ processStats, processHealth, live, serves, clock });
  const secret = config.http.cursorSecret ?? (await cursorSecret(config.dataDir));
  const access = createAccess({ settings: config.http, secret, attempts: wrongTokens, clock, logger });
  const base: RouteContext = {
    ...context,
    store,
    reading,
    ingest,
    live,
    access,
    cursors: createCursors({ secret, clock }),
    limits: createConcurrencyLimits(MAX_CONCURRENT),
  };
  const stream = createStream({ ...base, stats, resyncMs: periods.heal });
  const core: FeatureContext = {
    ...base,
    stream,
    clockGuard,
    readiness,
    watch: { watches, unwatchedTime },
    announced: announcedKinds(store),
    version,
    periods,
  };
  try {
    for (const feature of FEATURES) features.push(await feature.create(core));
  } catch (error) {
    await store.close();
    throw error;
  }
  for (const { onCommitted, onRegistered, judge } of features) {
    if (onCommitted) events.on('committed', onCommitted);
    if (onRegistered) events.on('registered', onRegistered);
    if (judge) stream.judgeBy(judge);
  }
  const api = serves
    ? createApi(core, {
        features,
        credentials,
        retire,
        stats,
        stream,
        unwatchedTime,
        mqttPort: () => messageSource?.mqttPort ?? 0,
      })
    : null;
  processStats.countReaders(stream.readers);
  const { host, port } = config.http;
  const http = createHttpServer({
    app: createApp({
      api,
      contracts: CONTRACTS,
      readiness,
      version,
      access,
      settings: config.http,
      logger,
      metrics,
    }),
    host,
    port,
    tls: tls.http,
    stopStreams: stream.stop,
    requestMs: periods.request,
    stallMs: periods.stall,
    metrics,
  });

  const watchedTime = messageSource
    ? new WatchedTime({
        store: store.watchedTime,
        watches,
        everyMs: periods.heartbeat,
      })
    : null;
  const heartbeat = new Heartbeat(context, {
    store: store.processes,
    watchedTime,
    process: { role: config.role, version },
    read: () => ({
      ...processStats.read(),
      measurements: processStats.measurements,
      broker: messageSource?.checks.broker() ?? null,
      shares: takes && shares,
      ...Object.assign({}, ...features.map(({ beat }) => beat?.())),
    }),
    everyMs: periods.heartbeat,
  });

  /**
   * In reverse order of the start. First no new messages are accepted, unsettled messages are settled, and HTTP clients get their answers.
   */
  async function stop() {
    // A part that cannot stop must not keep the others from stopping.
    const stopped = [
      ...(await Promise.allSettled([messageSource?.stop(), packing?.stop(), http.stop()])),
      ...(await Promise.allSettled(features.map(async (feature) => feature.stop?.()))),
    ];
    ingest.abort();
    processHealth.stop();
    stats.stop();
    processes.stop();
    stopped.push(...(await Promise.allSettled([live.stop(), heartbeat.stop()])));
    await store.close();
    for (const part of stopped) if (part.status === 'rejected') throw part.reason;
  }

  try {
    await ingest.start();
    await live.start();
    for (const feature of features) await feature.start?.();
    await messageSource?.start();
    packing?.start();
    await http.start();
    const clientId = processName(config, http.port);
    await processHealth.start();
    stats.start(clientId);
    await heartbeat.start(clientId);
    await processes.start();
  } catch (error) {
    await stop().catch((reason) =>
      logger.warn({ reason: String(reason) }, 'the process did not stop cleanly'),
    );
    throw error;
  }
  return {
    stop,
    httpPort: http.port,
    mqttPort: messageSource?.mqttPort ?? 0,
    measurements: () => processStats.measurements,
  };
}
