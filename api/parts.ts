import type { Logger } from 'pino';
import { createPeriodsOf, type OtherPeriods, PERIODS_MS } from '../common/periods.ts';
import type { Config } from '../common/settings/config.ts';
import type { Rate } from './access/http/rate-limits.ts';
import { Accounts } from './access/index.ts';
import { createTls } from './access/tls/index.ts';
import type { IngestSlots } from './feature.ts';
import { announcedKinds, CONTRACTS, externalBrokerOf, FEATURES } from './features/index.ts';
import { createPacking } from './history/packing/index.ts';
import { createFindNewest, createReading } from './history/reading/index.ts';
import { createGuards, createHttp, createStream } from './http/index.ts';
import { createIngest, IngestEvents } from './ingest/index.ts';
import { createLive, InstallationStats } from './live/index.ts';
import { createMessageSource } from './mqtt/index.ts';
import { type Context, ProcessReports, processName } from './observability/index.ts';
import { createRetire } from './retire.ts';
import type { RunningFeatures } from './running-features.ts';
import type { ClockGuard, connectStore, Store } from './store/index.ts';

export interface SystemOptions {
  config: Config;
  version: string;
  logger: Logger;
  onFatal: (error: Error) => void;
  clock?: () => number;
  /** in ms by name; only for tests */
  periods?: OtherPeriods | undefined;
  wrongTokens?: Rate;
  /** Benchmarks replace this option and the next. */
  openStore?: typeof connectStore;
  openSource?: typeof createMessageSource;
  /** difference between `clock` and the clock of the database, in ms; only for tests that set `clock` */
  clockDifference?: () => Promise<number>;
}

/**
 * Creates the parts of a process in order: the core, then the features. No part runs before `start`.
 * @throws {MillraceError} with the reason; the caller stops the features, and closes the store
 */
export async function createParts(
  options: SystemOptions,
  opened: {
    context: Context;
    slots: IngestSlots;
    features: RunningFeatures;
    store: Store;
    clockGuard: ClockGuard;
  },
) {
  const { config, version, onFatal, wrongTokens, clockDifference } = options;
  const { openSource = createMessageSource } = options;
  const { context, slots, features, store, clockGuard } = opened;
  const { clock } = context;
  const periodsOf = createPeriodsOf(options.periods);
  const periods = periodsOf(PERIODS_MS);
  const externalBroker = externalBrokerOf(config);
  const [receives, serves] = [config.role !== 'http', config.role !== 'ingest'];
  const tls = createTls(context, { everyMs: periods.certificates });
  const events = new IngestEvents();
  const ingest = createIngest(context, {
    store,
    clockGuard,
    ...slots,
    ...events.callbacks,
    beatMs: periods.beat,
  });
  const { handleMessage, processStats, progress } = ingest;
  const accounts = new Accounts(config.mqtt);
  const source = receives
    ? openSource(context, {
        tls: tls.mqtt,
        handleMessage,
        ingest,
        accounts,
        periods,
        onFatal,
        ...externalBroker,
      })
    : null;
  if (source) events.on('command', source.send);
  const packing = receives ? createPacking(context, { store, clockGuard, pauseMs: periods.pack }) : null;
  const live = createLive(context, { source, keepAliveMs: periods.keepAlive, ...externalBroker });
  events.on('committed', live.publishChanges).on('state', live.publishState);
  const reports = new ProcessReports(context, {
    store,
    clockGuard,
    source,
    notes: serves ? live.checks : {},
    progress,
    read: () => ({ ...processStats.read(), measurements: processStats.measurements, ...features.beat() }),
    version,
    everyMs: periods.heartbeat,
    clockDifference,
  });
  const { readiness, unwatchedTime } = reports;
  const stats = new InstallationStats({ processStats, processHealth: reports.health, live, serves, clock });
  const guards = await createGuards(context, wrongTokens);
  const stream = createStream({ ...context, ...guards, store, live, stats, resyncMs: periods.heal });
  processStats.countReaders(stream.readers);
  const publishing = { live, stream, announced: announcedKinds(store) };
  const health = { clockGuard, readiness, unwatchedTime, watches: reports.watches };
  const reading = createReading(store);
  const corrections = ingest.corrections(createFindNewest(reading, context));
  const shared = { ...context, version, periodsOf, contracts: CONTRACTS };
  const core = { context: shared, store, reading, ingest, corrections, publishing, health, http: guards };
  const retire = createRetire({ ingest, live, features });
  await features.create(FEATURES, core);
  features.listen({ events, stream, accounts, access: guards.access, packing, corrections });
  const mqttPort = () => source?.mqttPort ?? 0;
  const served = { features, retire, stats, stream, unwatchedTime, mqttPort, periods };
  const http = createHttp(core, { ...served, contracts: CONTRACTS, tls: tls.http });

  /** No new message is accepted, unsettled messages are settled, and HTTP clients get their answers. */
  async function stop() {
    // A part that cannot stop must not keep the others from stopping.
    const stopped = await Promise.allSettled([source?.stop(), packing?.stop(), http.stop()]);
    // Features see the rows that are written now.
    stopped.push(...(await Promise.allSettled([ingest.drain()])));
    stopped.push(...(await features.stop()));
    ingest.abort();
    stats.stop();
    stopped.push(...(await Promise.allSettled([live.stop(), reports.stop()])));
    await store.close();
    for (const part of stopped) if (part.status === 'rejected') throw part.reason;
  }

  async function start() {
    for (const part of [ingest, live, features, source, packing, http]) await part?.start();
    const clientId = processName(config, http.port);
    await reports.health.start();
    // Before the first heartbeat, which waits for the database.
    stats.start(clientId);
    await reports.start(clientId);
    const measurements = () => processStats.measurements;
    return { stop, httpPort: http.port, mqttPort: mqttPort(), measurements };
  }

  return { start, stop };
}
