import { DAY_MS } from '../../schema/rules.js';
import { createPatience } from '../store/retry.js';
import { createProgress } from './acknowledgements.js';
import { createStrays } from './awaiting-registration.js';
import { ByteBudget } from './backpressure/byte-budget.js';
import { DeviceQueue } from './backpressure/queue.js';
import { createDeadLetterBox } from './dead-letter-box.js';
import { MessageDecoder } from './decode/index.js';
import { createHandlers } from './handlers/index.js';
import { createLateDayNotes, createLateWriter } from './late-writer.js';
import { createLastSeen, createLatestWriter } from './latest-writer.js';
import { IngestPipeline } from './pipeline.js';
import { createRefusalNotices } from './refusal-notices.js';
import { createRegistry } from './registry/index.js';
import { createRetirement } from './registry/retirement.js';
import { createReplay } from './replay.js';
import { createPartitionWatch, createSampleWriter } from './sample-writer.js';
import { createSubmission } from './submission.js';

/** @import { Logger } from 'pino' */
/** @import { Config } from '../../common/settings/config.js' */
/** @import { Metrics } from '../observability/metrics.js' */
/** @import { Vitals } from '../observability/process-stats.js' */
/** @import { TrustedClock } from '../store/clock-guard.js' */
/** @import { Store } from '../store/index.js' */
/** @import { Send } from './pipeline.js' */
/** @import { Device, Sensor } from './registry/cache.js' */

/** A database that took nothing for this long is away, in ms; less may be one request that timed out. */
const STUCK_AFTER_MS = 1000;

/** Bytes of messages that are being settled at once. */
const BUDGET_BYTES = 64 * 1024 * 1024;

/**
 * Told of committed newer values.
 *
 * @callback Publish
 * @param {Device} device
 * @param {Sensor[]} changed
 */

/**
 * The way from a message to its acknowledgement.
 *
 * @param {object} parts
 * @param {Config} parts.config
 * @param {Store} parts.store
 * @param {Send} [parts.send] publishes to devices; default: nobody listens
 * @param {Publish} [parts.publish] tells readers; default: nobody listens
 * @param {() => number} parts.clock epoch ms
 * @param {TrustedClock} parts.trustedClock the same, held against the database's
 * @param {Logger} parts.logger
 * @param {Metrics} parts.metrics
 * @param {Vitals} parts.vitals
 */
export function createIngest(parts) {
  const { config, store, send = () => {}, publish = () => {}, clock, trustedClock } = parts;
  const { logger, metrics, vitals } = parts;
  const { autoRegister, autoRegisterMax, maxClockSkewMs, maxMessageBytes, relativeTimes } = config.ingest;
  const groups = config.retention.latestGroups;
  const patience = createPatience({ logger, onRetry: () => metrics.retries.inc() });
  const limits = { autoRegister, autoRegisterMax };
  const registry = createRegistry({ store: store.registry, groups, limits, patience, clock });
  const lastSeen = createLastSeen({ store: store.registry, patience });
  const notices = createRefusalNotices({ logger });
  const deadLetters = createDeadLetterBox({ store: store.deadLetters, registry, patience, notices, metrics });
  const historyMs = config.retention.historyDays * DAY_MS;
  const decoder = new MessageDecoder({ historyMs, maxClockSkewMs, relativeTimes });
  const strays = createStrays({ clock });
  const budget = new ByteBudget(BUDGET_BYTES);
  const deviceQueue = new DeviceQueue();
  const progress = createProgress({ answeredAt: () => patience.answeredAt });
  const late = createLateWriter({
    store: store.history,
    patience,
    days: createLateDayNotes({ store: store.lateDays, patience }),
    onLate: (samples) => metrics.late.inc(samples),
  });
  const samples = createSampleWriter({
    store: store.measurements,
    patience,
    partitions: createPartitionWatch({ logger, onLarge: () => metrics.largePartitions.inc() }),
    clock: trustedClock,
    late,
  });
  const pipeline = new IngestPipeline(
    { config, clock, logger, metrics, vitals },
    {
      progress,
      budget,
      deviceQueue,
      decoder,
      registry,
      samples,
      latest: createLatestWriter({ store: store.latest, patience, logger }),
      lastSeen,
      deadLetters,
      notices,
      strays,
      patience,
      trustedClock,
      publish,
      createHandlers: (measurements) =>
        createHandlers({
          config,
          store,
          patience,
          registry,
          decoder,
          measurements,
          lastSeen,
          deadLetters,
          strays,
          send,
          clock,
          metrics,
        }),
    },
  );
  const isStuck = () => patience.failingForMs > STUCK_AFTER_MS;
  const submission = createSubmission({
    budget,
    isStuck,
    deviceQueue,
    decoder,
    pipeline,
    clock,
    metrics,
    vitals,
  });
  const { retire } = createRetirement({ registry, store: store.retirement, groups, clock });
  const { replay } = createReplay({ budget, deviceQueue, pipeline, maxMessageBytes, clock });

  return {
    handleMessage: pipeline.handleMessage,
    submit: submission.submit,
    replay,
    retire,
    /** Of `handleMessage`. */
    progress,
    /** For messages. Message sources that can hold their devices back read no further while there is none. */
    room: budget,
    async start() {
      await Promise.all([trustedClock.start(), registry.start()]);
    },
    /** Bytes of messages that are being settled. */
    get unsettledBytes() {
      return budget.used;
    },
    /** Bytes of what is posted, while it is received or settled. */
    get submittedBytes() {
      return submission.held;
    },
    /** @returns {boolean} whether the database has been refusing everything for a while */
    get isStuck() {
      return isStuck();
    },
    /** What cannot be committed now stays unacknowledged. */
    giveUp() {
      patience.giveUp();
      trustedClock.stop();
    },
  };
}

/** @typedef {ReturnType<typeof createIngest>} Ingest */
