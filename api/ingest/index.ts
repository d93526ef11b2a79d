import { PERIODS_MS } from '../../common/periods.ts';
import type { Identity } from '../../schema/ids.ts';
import { DAY_MS } from '../../schema/rules.ts';
import { type FurtherTopics, topicContract } from '../../schema/topics.ts';
import { type Context, ProcessStats } from '../observability/index.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { ClockGuard } from '../store/clock-guard.ts';
import type { Store } from '../store/index.ts';
import { Admission } from './admission/index.ts';
import { AwaitingRegistration } from './awaiting-registration.ts';
import { CorrectionLog } from './correction-log.ts';
import { Corrections, type FindNewest } from './corrections.ts';
import { createDeadLetterBox } from './dead-letter-box.ts';
import { MessageDecoder } from './decode/index.ts';
import { createHandlers, createNoteLastSeen, MeasurementStore } from './handlers/index.ts';
import { ReplacingMessages } from './handlers/replacing.ts';
import { guardObserver, type SampleObserver } from './handlers/sample-observer.ts';
import { Journal } from './journal/index.ts';
import { JournalTakeover } from './journal/takeover.ts';
import { createLateWriter, LateArrivalNotes, LateDayNotes } from './late-samples.ts';
import { Outbox } from './outbox.ts';
import { IngestPipeline, type Send } from './pipeline.ts';
import { ReceiptTimes } from './receipt-times.ts';
import { RefusalNotices } from './refusal-notices.ts';
import { Births } from './registry/births.ts';
import type { Device, Sensor } from './registry/cache.ts';
import { createDescriptions } from './registry/descriptions.ts';
import { createRetirement, Registry } from './registry/index.ts';
import { ClockNotices } from './registry/sessions.ts';
import { createEvents, Statuses } from './registry/status.ts';
import { createReplay } from './replay.ts';
import { RevisionWriter } from './revisions.ts';
import { SampleWriter, type Series } from './sample-writer.ts';
import { Submissions, type Submit } from './submission.ts';
import { type HandlerDeps, type OpenTopics, Topics } from './topics.ts';

export { copyBytes } from './admission/index.ts';
export { AwaitingRegistration, storeWaiting } from './awaiting-registration.ts';
export { IngestEvents } from './events.ts';
export { notReplayable, resultOf } from './ingest-result.ts';
export { partitions } from './late-samples.ts';
export { arrivalOf, refuseForbidden, toKept } from './pipeline.ts';
export { sensorOf } from './registry/cache.ts';

/** With a shorter limit, a single timed-out request would already count as an outage. */
const STUCK_AFTER_MS = 1000;

/** In ms. Another process writes the rows that remain then. */
const DRAIN_MS = 5000;

/** After the commit of a message. `changed`: the sensors that have a newer value now; `series`: all samples of the message. */
export type Publish = (device: Device, changed: Sensor[], series: Series[]) => void;

type Deps = {
  store: Store;
  /** Device events and dead letters are noted in the outbox, from which a feature publishes them. */
  isAnnounced: boolean;
  /** of features; default: only the topics of the contract are read */
  topics?: OpenTopics[];
  /** default: only the topics of the core */
  contract?: FurtherTopics;
  /** default: does nothing */
  send?: Send;
  /** live changes; default: does nothing */
  publish?: Publish;
  /** a device went online or offline; default: does nothing */
  onState?: (device: Device) => void;
  /** a new device was committed; default: does nothing */
  onRegistered?: (device: Device) => void;
  /** compared with the clock of the database */
  clockGuard: ClockGuard;
  /** interval of the beat of the journal; default: that of `PERIODS_MS` */
  beatMs?: number;
};

/**
 * Decodes and validates messages, registers devices and sensors, and commits samples before the acknowledgement.
 * `pipeline.ts` shows the path of a message. This folder does not depend on MQTT, HTTP or CQL.
 */
export function createIngest(context: Context, deps: Deps) {
  const { config, clock, metrics } = context;
  const { store, publish = () => {}, clockGuard } = deps;
  const { maxClockSkewMs } = config.ingest;
  const groups = config.retention.latestGroups;
  const historyMs = config.retention.historyDays * DAY_MS;
  const { retry } = store;
  const {
    registry,
    births,
    outbox,
    decoder,
    admission,
    days,
    samples,
    journal,
    revisions,
    measurements,
    measurementHandler,
    replacing,
    topics,
    processStats,
    pipeline,
  } = createPath(context, deps, historyMs);
  const isStuck = () => retry.failingForMs > STUCK_AFTER_MS;
  const submissions = new Submissions(context, {
    admission,
    isStuck,
    measurements,
    handler: measurementHandler,
    identify: pipeline.identify,
  });
  processStats.followJournal(() => journal.ageMs);
  const { retire } = createRetirement({ registry, store: store.retirement, groups, clock });
  const { replay } = createReplay({ pipeline, clock });

  const takeover = new JournalTakeover({
    own: store.journal,
    store: store.everywhere.journal,
    leases: store.packLeases,
    isOwn: (run) => journal.isOwn(run),
    write: (samples) => measurements.writeOrphaned(samples),
    process: config.mqtt.clientId,
    beatMs: deps.beatMs ?? PERIODS_MS.beat,
    logger: context.logger,
  });

  let drained: Promise<void> | null = null;

  exposeIngest(metrics, { admission, submissions, journal });

  return {
    handleMessage: pipeline.handleMessage,
    submit: ((submission) => submissions.submit(submission)) satisfies Submit,
    replay,
    async retire(identity: Identity): Promise<boolean> {
      await journal.flush(identity.id);
      return retire(identity);
    },
    find: (identity: Identity) => registry.find(identity),
    topics,
    descriptions: createDescriptions({ registry, births, isStuck, clock }),
    /** for features that commit samples in their own way */
    decoder,
    submissions,
    measurements,
    journal,
    /** for a feature that writes samples of closed hours */
    writing: { registry, samples, days, publish, clock: clockGuard },
    /** for features that replace or remove stored samples */
    corrections(findNewest: FindNewest) {
      replacing.corrections = new Corrections({
        revisions,
        latest: store.write.corrected,
        log: new CorrectionLog({ store: store.corrections, revisions, retry }),
        registry,
        findNewest,
        retry,
        publish,
        settled: (id) => journal.flush(id),
        onReplaced: (count) => metrics.corrected.inc({ kind: 'replace' }, count),
      });
      measurements.setCorrections(replacing.corrections);
      return replacing.corrections;
    },
    /** Limits in epoch ms. Settles when the clock is right. */
    async acceptedTimes(): Promise<{ oldest: number; newest: number }> {
      const now = await clockGuard.now();
      return { oldest: now - historyMs, newest: now + maxClockSkewMs };
    },
    setSampleObserver: (observer: SampleObserver | null) =>
      measurements.setSampleObserver(observer && guardObserver(observer, context.logger)),
    /** From memory, with the newest values that this process committed. */
    peek: (id: string) => registry.cache.peek(id),
    /** null: no feature reads it */
    outbox,
    processStats,
    /** unsettled messages of `handleMessage` */
    progress: admission.progress,
    /** Message sources with backpressure read no further while it is full. */
    room: admission.budget,
    async start() {
      await Promise.all([clockGuard.start(), registry.recount()]);
      await takeover.writeOwn();
      takeover.start();
    },
    /** Writes the rows of acknowledged samples. Messages in progress get their own rows. Further calls wait for the first one. */
    drain: (): Promise<void> =>
      (drained ??= Promise.all([takeover.stop(DRAIN_MS), journal.stop(DRAIN_MS)]).then(() => {})),
    get unsettledBytes() {
      return admission.budget.used;
    },
    /** being received or processed */
    get submittedBytes() {
      return submissions.held;
    },
    /** The database has refused all requests for a while. */
    get isStuck() {
      return isStuck();
    },
    /** Uncommitted messages stay unacknowledged. */
    abort() {
      retry.abort();
      clockGuard.stop();
    },
  };
}

/** The stations of a message on its way to the commit. */
function createPath(context: Context, deps: Deps, historyMs: number) {
  const { config, clock, logger, metrics } = context;
  const { store, isAnnounced, send = () => {}, publish = () => {}, onState = () => {}, clockGuard } = deps;
  const { beatMs = PERIODS_MS.beat } = deps;
  const { autoRegister, autoRegisterMax, maxClockSkewMs, relativeTimes, tsUnitMs } = config.ingest;
  const groups = config.retention.latestGroups;
  const { retry } = store;
  const processStats = new ProcessStats({ clock, pressure: store.health.pressure });
  const limits = { autoRegister, autoRegisterMax };
  const registry = new Registry({
    store: store.write.registry,
    groups,
    limits,
    retry,
    clock,
    onRegistered: deps.onRegistered,
  });
  const clocks = new ClockNotices({ logger });
  const births = new Births({ registry, store: store.write.registry, retry, clock, clocks });
  const notices = new RefusalNotices({ logger });
  const outbox = isAnnounced ? new Outbox({ store: store.write.outbox, clock }) : null;
  const deadLetters = createDeadLetterBox({
    store: store.deadLetters,
    registry,
    retry,
    notices,
    metrics,
    outbox,
    clock,
    groups,
  });
  const decoder = new MessageDecoder({ historyMs, maxClockSkewMs, relativeTimes, tsUnitMs });
  const receiptTimes = new ReceiptTimes({ maxAheadMs: maxClockSkewMs });
  const admission = new Admission({ clockGuard, answeredAt: () => retry.answeredAt });
  const { days, samples, revisions } = createSampleWriter(store, { clockGuard, metrics });
  const journal = new Journal({
    store: store.journal,
    isBusy: store.health.isPressed,
    write: (device, series) => measurements.writeBehind(device, series),
    mode: config.ingest.journal,
    process: config.mqtt.clientId,
    beatMs,
    logger,
  });
  Object.assign(store.unwritten, {
    blocksOf: journal.blocksOf.bind(journal),
    newestOf: journal.newestOf.bind(journal),
  });
  const events = createEvents({ store: store.write.events, retry, outbox, groups });
  const statuses = new Statuses({ registry, store: store.write.registry, retry, events, clocks, onState });
  const measurements = new MeasurementStore(
    { clock, metrics, processStats },
    {
      registry,
      statuses,
      receiptTimes,
      samples,
      journal,
      deadLetters,
      write: store.write,
      retry,
      publish,
    },
  );
  const noteLastSeen = createNoteLastSeen(registry, store.write.lastSeen);
  const replacing = new ReplacingMessages(context, decoder);
  const contract = deps.contract ?? topicContract([]);
  const handlerDeps: HandlerDeps = {
    replacing,
    devices: { registry, births, events, statuses, noteLastSeen },
    decoder,
    measurements,
    deadLetters,
    awaitingRegistration: new AwaitingRegistration({ clock }),
    contract,
    queue: admission.queue,
    database: { session: store.write.session, retry },
    send,
  };
  const topics = new Topics(
    (deps.topics ?? []).map((open) => open(context, handlerDeps)),
    contract,
    logger,
  );
  const { measurements: measurementHandler, handlers } = createHandlers(context, handlerDeps, topics.readers);
  const pipeline = new IngestPipeline(context, {
    admission,
    handlers,
    topics,
    deadLetters,
    notices,
    retry,
    processStats,
  });
  return {
    registry,
    births,
    outbox,
    decoder,
    admission,
    days,
    samples,
    journal,
    revisions,
    measurements,
    measurementHandler,
    replacing,
    topics,
    processStats,
    pipeline,
  };
}

function createSampleWriter(
  store: Store,
  { clockGuard, metrics }: { clockGuard: ClockGuard; metrics: Metrics },
) {
  const { retry } = store;
  const days = new LateDayNotes({ store: store.write.lateDays, retry, clock: clockGuard });
  const arrivals = new LateArrivalNotes({ store: store.write.lateArrivals, retry, clock: clockGuard });
  const { history } = store.write;
  const late = createLateWriter({
    store: history,
    retry,
    days,
    arrivals,
    onLate: (samples) => metrics.late.inc(samples),
  });
  const samples = new SampleWriter({
    write: store.write.samples,
    stamps: store.stamps,
    clock: clockGuard,
    late,
  });
  const { lateDays } = store.write;
  const revisions = new RevisionWriter({
    store: history,
    retry,
    clock: clockGuard,
    days,
    lateDays,
  });
  return { days, samples, revisions };
}

export type Ingest = ReturnType<typeof createIngest>;

function exposeIngest(
  { gauge }: Metrics,
  { admission, submissions, journal }: { admission: Admission; submissions: Submissions; journal: Journal },
) {
  const { progress, budget } = admission;
  gauge(
    'iot_ingest_unsettled_messages',
    'Messages that are being processed: received, but not acknowledged yet',
    () => progress.unsettled,
  );
  gauge('iot_ingest_unsettled_bytes', 'Bytes of messages that are being processed', () => budget.used);
  gauge(
    'iot_ingest_submitted_bytes',
    'Bytes of posts that are being received or processed',
    () => submissions.held,
  );
  gauge(
    'iot_journal_samples',
    'Acknowledged samples in the journal whose rows are not written yet',
    () => journal.waitingSamples,
  );
  gauge(
    'iot_journal_age_seconds',
    'Age of the oldest sample in the journal whose row is not written yet; until then other processes do not see it',
    () => journal.ageMs / 1000,
  );
  gauge(
    'iot_ingest_standstill_seconds',
    'Time since the last processed message or answer of the database, while messages wait; 0: no message waits',
    () => progress.standstillMs / 1000,
  );
}
