import { randomUUID } from 'node:crypto';
import { createLeases, Steps } from '../history/packing/index.js';
import { Retry } from '../store/index.js';
import { CompletionLoop } from './closed-hours.js';
import { createCompletion } from './completion.js';
import { HotPath } from './hot-path.js';
import { connectionOptions } from './kafka/connection.js';
import { createSenderThrottle, KafkaSender } from './kafka/sender.js';
import { SentNotes } from './notes.js';
import { createRecordMaker } from './record-maker.js';
import { Schemas } from './schemas.js';
import { STOP_WITHIN_MS, withTimeLimit } from './time-limit.js';

/** @import { Context } from '../observability/index.js' */
/** @import { Outbox } from '../ingest/outbox.js' */
/** @import { ClockGuard } from '../store/clock-guard.js' */
/** @import { Store } from '../store/index.js' */
/** @import { TopicKind as Kind } from './kafka/topics.js' */

/** @typedef {Kind} TopicKind */

export { backlogOf } from './backlog.js';
export { decodeBatch, decodeWatermark } from './decoder.js';
export { connectionOptions } from './kafka/connection.js';
export { TopicRefused } from './kafka/sender.js';
export { TOPICS, topicName, usedTopics } from './kafka/topics.js';
export { Schemas } from './schemas.js';

const NOTES_EVERY_MS = 60_000;

/**
 * The state of streaming out that heartbeats report.
 *
 * @typedef {object} StreamState
 * @property {boolean} ok whether Kafka accepted the last request
 * @property {number} lag_ms age of the block that has waited longest
 * @property {number} queue_bytes bytes that wait for Kafka
 * @property {number} queue_limit limit of `queue_bytes`
 */

/**
 * Streams every committed block to Kafka. Imported samples of closed hours have no block, so they are never streamed. The table
 * of blocks is the outbox: nothing is written twice, and nothing is lost if Kafka or this process is unavailable. `hot-path.js`
 * sends blocks after their commit, and `completion.js` sends missing blocks when an hour has closed. `changes/index.js` reads
 * the same blocks from the table for `GET /changes`, without Kafka. No acknowledgement waits for streaming out.
 *
 * @param {Context} context with `STREAM_KAFKA`
 * @param {object} deps
 * @param {Store} deps.store
 * @param {ClockGuard} deps.clockGuard
 * @param {() => boolean} deps.isPressed whether requests of ingest wait for the congestion window
 * @param {Outbox | null} deps.outbox of ingest and alarms; null: only for a replay
 * @param {number} deps.pauseMs mean pause between two checks for closed hours
 */
export function createStreamOut({ config, clock, logger, metrics }, deps) {
  const { store, clockGuard, isPressed, outbox, pauseMs } = deps;
  const { stream } = config;
  const groups = config.retention.latestGroups;
  const onRetry = () => metrics.retries.inc();
  const retry = new Retry({ logger, onRetry });
  // The completion has its own retry, because it ends before the last notes are written.
  const completionRetry = new Retry({ logger, onRetry });
  const schemas = new Schemas(stream, logger);
  const records = createRecordMaker(stream, schemas.headOf);
  const clientId = config.mqtt.clientId;
  const throttle = createSenderThrottle();
  const createSender = (/** @type {string} */ name, /** @type {boolean} */ waitsForTopics) =>
    new KafkaSender({
      options: connectionOptions(stream, `${clientId}-${name}`),
      logger,
      throttle,
      waitsForTopics,
      onSent: (sent) => metrics.streamRecords.inc({ topic: sent[0]?.topic ?? '' }, sent.length),
      onFailure: () => metrics.streamFailures.inc(),
    });
  const completing = createSender('completion', false);
  const notes = new SentNotes({ store: store.streaming, retry, clock });
  const hot = new HotPath({
    queueBytes: stream.queueBytes,
    createSender: (topic) => createSender(`hot-${topic}`, true),
    schemas,
    records,
    notes,
    sendsLatest: stream.latest,
    clock,
    metrics,
  });
  outbox?.subscribe(hot.announce);
  /** Time until which each group of devices is streamed, in epoch ms. @type {Map<number, number>} */
  const streamedUntil = new Map();
  const watermarkLagMs = () =>
    streamedUntil.size === 0 ? 0 : Math.max(0, clock() - Math.min(...streamedUntil.values()));
  const steps = new Steps({ retry: completionRetry, isPressed, overdueMs: watermarkLagMs });
  const completion = createCompletion({
    store,
    groups,
    clock: clockGuard,
    steps,
    leases: createLeases({ store: store.streamLeases, owner: `${clientId}:${randomUUID()}`, logger }),
    sender: completing,
    schemas,
    records,
    notes,
    sendsLatest: stream.latest,
    observer: {
      onCompleted: (blocks) => metrics.streamCompleted.inc(blocks),
      onStreamed: (group, until) => streamedUntil.set(group, until),
    },
  });
  const { gauge } = metrics;
  gauge('iot_stream_queue_bytes', 'Bytes of blocks that wait for Kafka', () => hot.queueBytes);
  gauge('iot_stream_queue_limit_bytes', 'Limit of these bytes: STREAM_QUEUE_BYTES', () => stream.queueBytes);
  gauge('iot_stream_lag_seconds', 'Age of the block that waits longest for Kafka', () => hot.lagMs / 1000);
  gauge(
    'iot_stream_watermark_lag_seconds',
    'Age of streamed_until of the last group of devices; one to two hours are normal',
    () => watermarkLagMs() / 1000,
  );
  const loop = new CompletionLoop({
    completeDue: completion.completeDue,
    steps,
    pauseMs,
    logger,
    target: 'Kafka',
  });
  /**
   * Logs a failed write of notes. Without its note, a block is sent a second time when its hour has closed.
   *
   * @param {unknown} error
   */
  const onNotesFailed = (error) => {
    if (!retry.isAborted)
      logger.warn({ err: error }, 'streaming out: the list of sent blocks was not written');
  };
  /** @type {NodeJS.Timeout | undefined} */
  let notesTimer;

  return {
    /** Receives the committed blocks of ingest. */
    blocks: hot.blocks,
    noteLatest: hot.noteLatest,
    removeLatest: hot.removeLatest,
    begin: completion.begin,
    completeDue: completion.completeDue,
    replay: completion.replay,

    /** @param {{ completes: boolean }} options whether this process completes closed hours */
    start({ completes }) {
      hot.start();
      notesTimer = setInterval(() => void notes.writeDue().catch(onNotesFailed), NOTES_EVERY_MS).unref();
      if (completes) loop.start();
    },

    /** @returns {StreamState} */
    state: () => ({
      ok: !hot.isFailing,
      lag_ms: Math.round(hot.lagMs),
      queue_bytes: hot.queueBytes,
      queue_limit: stream.queueBytes,
    }),

    /**
     * Sends the waiting items if Kafka accepts them, and writes the notes of sent items. The completion sends the remaining
     * items when their hour has closed.
     */
    async stop() {
      clearInterval(notesTimer);
      const ended = loop.stop();
      await hot.stop(STOP_WITHIN_MS);
      await completing.stop();
      await withTimeLimit(Promise.all([hot.ended, ended]));
      await withTimeLimit(notes.writeAll().catch(onNotesFailed));
      retry.abort();
    },
  };
}

/** @typedef {ReturnType<typeof createStreamOut>} StreamOut */
