import { DAY_MS } from '../../schema/rules.js';
import { createRetry } from '../store/retry.js';
import { createProgress } from './acknowledgements.js';
import { createAwaitingRegistration } from './awaiting-registration.js';
import { ByteBudget } from './backpressure/byte-budget.js';
import { DeviceQueue } from './backpressure/queue.js';
import { createDeadLetterBox } from './dead-letter-box.js';
import { MessageDecoder } from './decode/index.js';
import { createHandlers } from './handlers/index.js';
import { createLateDayNotes, createLateWriter } from './late-writer.js';
import { createLastSeen, createLatestWriter } from './latest-writer.js';
import { IngestPipeline } from './pipeline.js';
import { createRefusalNotices } from './refusal-notices.js';
import { createRegistry, createRetirement } from './registry/index.js';
import { createReplay } from './replay.js';
import { createPartitionWatch, createSampleWriter } from './sample-writer.js';
import { createSubmission } from './submission.js';

/** @import { Context } from '../observability/context.js' */
/** @import { ProcessStats } from '../observability/process-stats.js' */
/** @import { ClockGuard } from '../store/clock-guard.js' */
/** @import { Store } from '../store/index.js' */
/** @import { Send } from './pipeline.js' */
/** @import { Device, Sensor } from './registry/cache.js' */

/** A database that accepted no request for this long counts as unavailable, in ms. Less may be one request that timed out. */
const STUCK_AFTER_MS = 1000;

/** Limit of the bytes of unsettled messages. */
const BUDGET_BYTES = 64 * 1024 * 1024;

/**
 * Publishes newer values after their commit.
 *
 * @callback Publish
 * @param {Device} device
 * @param {Sensor[]} changed
 */

/**
 * Ingest: it decodes and validates messages, registers devices and sensors, and commits samples before the acknowledgement. This module
 * creates its parts. `pipeline.js` is the path of a message. MQTT, HTTP and CQL are not known here.
 *
 * @param {Context} context
 * @param {object} deps
 * @param {Store} deps.store
 * @param {Send} [deps.send] publishes to devices; default: does nothing
 * @param {Publish} [deps.publish] publishes live changes; default: does nothing
 * @param {ClockGuard} deps.clockGuard the clock of the context, compared with the clock of the database
 * @param {ProcessStats} deps.processStats
 */
export function createIngest(context, deps) {
  const { config, clock, logger, metrics } = context;
  const { store, send = () => {}, publish = () => {}, clockGuard, processStats } = deps;
  const { autoRegister, autoRegisterMax, maxClockSkewMs, maxMessageBytes, relativeTimes } = config.ingest;
  const groups = config.retention.latestGroups;
  const retry = createRetry({ logger, onRetry: () => metrics.retries.inc() });
  const limits = { autoRegister, autoRegisterMax };
  const registry = createRegistry({ store: store.registry, groups, limits, retry, clock });
  const lastSeen = createLastSeen({ store: store.registry, retry });
  const notices = createRefusalNotices({ logger });
  const deadLetters = createDeadLetterBox({ store: store.deadLetters, registry, retry, notices, metrics });
  const historyMs = config.retention.historyDays * DAY_MS;
  const decoder = new MessageDecoder({ historyMs, maxClockSkewMs, relativeTimes });
  const awaitingRegistration = createAwaitingRegistration({ clock });
  const budget = new ByteBudget(BUDGET_BYTES);
  const deviceQueue = new DeviceQueue();
  const progress = createProgress({ answeredAt: () => retry.answeredAt });
  const late = createLateWriter({
    store: store.history,
    retry,
    days: createLateDayNotes({ store: store.lateDays, retry }),
    onLate: (samples) => metrics.late.inc(samples),
  });
  const samples = createSampleWriter({
    store: store.measurements,
    retry,
    partitions: createPartitionWatch({ logger, onLarge: () => metrics.largePartitions.inc() }),
    clock: clockGuard,
    late,
  });
  const pipeline = new IngestPipeline(
    { ...context, processStats },
    {
      progress,
      budget,
      deviceQueue,
      decoder,
      registry,
      samples,
      latest: createLatestWriter({ store: store.latest, retry, logger }),
      lastSeen,
      deadLetters,
      notices,
      awaitingRegistration,
      retry,
      clockGuard,
      publish,
      createHandlers: (measurements) =>
        createHandlers({
          config,
          store,
          retry,
          registry,
          decoder,
          measurements,
          lastSeen,
          deadLetters,
          awaitingRegistration,
          send,
          clock,
          metrics,
        }),
    },
  );
  const isStuck = () => retry.failingForMs > STUCK_AFTER_MS;
  const submission = createSubmission({
    budget,
    isStuck,
    deviceQueue,
    decoder,
    pipeline,
    clock,
    metrics,
    processStats,
  });
  const { retire } = createRetirement({ registry, store: store.retirement, groups, clock });
  const { replay } = createReplay({ budget, deviceQueue, pipeline, maxMessageBytes, clock });

  return {
    handleMessage: pipeline.handleMessage,
    submit: submission.submit,
    replay,
    retire,
    /** The unsettled messages of `handleMessage`. */
    progress,
    /** The byte budget. Message sources with backpressure read no further while it is full. */
    room: budget,
    async start() {
      await Promise.all([clockGuard.start(), registry.start()]);
    },
    /** Bytes of unsettled messages. */
    get unsettledBytes() {
      return budget.used;
    },
    /** Bytes of submissions that are received or settled. */
    get submittedBytes() {
      return submission.held;
    },
    /** Whether the database has refused all requests for a while. */
    get isStuck() {
      return isStuck();
    },
    /** Ends all retries. Uncommitted messages stay unacknowledged. */
    abort() {
      retry.abort();
      clockGuard.stop();
    },
  };
}

/** @typedef {ReturnType<typeof createIngest>} Ingest */
