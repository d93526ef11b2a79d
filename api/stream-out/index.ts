import { randomUUID } from 'node:crypto';
import { createLeases, Steps } from '../history/packing/index.ts';
import type { Outbox } from '../ingest/outbox.ts';
import type { Context } from '../observability/index.ts';
import type { ClockGuard } from '../store/clock-guard.ts';
import { Retry, type Store } from '../store/index.ts';
import { CompletionLoop } from './closed-hours.ts';
import { createCompletion } from './completion/index.ts';
import { HotPath } from './hot-path.ts';
import { connectionOptions } from './kafka/connection.ts';
import { createSenderThrottle, KafkaSender } from './kafka/sender.ts';
import type { TopicKind as Kind } from './kafka/topics.ts';
import { SentNotes } from './notes.ts';
import { createRecordMaker } from './record-maker.ts';
import { Schemas } from './schemas.ts';
import { STOP_WITHIN_MS, withTimeLimit } from './time-limit.ts';

export type TopicKind = Kind;

export { backlogOf } from './backlog.ts';
export { decodeBatch, decodeWatermark } from './decoder.ts';
export { connectionOptions } from './kafka/connection.ts';
export { TopicRefused } from './kafka/sender.ts';
export { TOPICS, topicName, usedTopics } from './kafka/topics.ts';
export { Schemas } from './schemas.ts';

const NOTES_EVERY_MS = 60_000;

interface StreamState {
  /** Kafka accepted the last request */
  ok: boolean;
  lag_ms: number;
  queue_bytes: number;
  queue_limit: number;
}

/**
 * Streams every committed block to Kafka. Imported samples of closed hours have no block, so they are never streamed. The table of blocks
 * is the outbox: nothing is written twice, and nothing is lost if Kafka or this process is unavailable. `hot-path.ts` sends blocks after
 * their commit, and `completion/index.ts` sends missing blocks when an hour has closed. `changes/index.ts` reads the same blocks for `GET
 * /changes`, without Kafka. No acknowledgement waits for streaming out.
 */
export function createStreamOut(
  { config, clock, logger, metrics }: Context,
  deps: {
    store: Store;
    clockGuard: ClockGuard;
    /** requests of ingest wait for the congestion window */
    isPressed: () => boolean;
    /** null: only for a replay */
    outbox: Outbox | null;
    pauseMs: number;
  },
) {
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
  const createSender = (name: string, waitsForTopics: boolean) =>
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
  const streamedUntil: Map<number, number> = new Map();
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
  /** Without its note, a block is sent a second time when its hour has closed. */
  const onNotesFailed = (error: unknown) => {
    if (!retry.isAborted)
      logger.warn({ err: error }, 'streaming out: the list of sent blocks was not written');
  };
  let notesTimer: NodeJS.Timeout | undefined;

  return {
    blocks: hot.blocks,
    noteLatest: hot.noteLatest,
    removeLatest: hot.removeLatest,
    begin: completion.begin,
    completeDue: completion.completeDue,
    replay: completion.replay,

    start({ completes }: { completes: boolean }) {
      hot.start();
      notesTimer = setInterval(() => void notes.writeDue().catch(onNotesFailed), NOTES_EVERY_MS).unref();
      if (completes) loop.start();
    },

    state: (): StreamState => ({
      ok: !hot.isFailing,
      lag_ms: Math.round(hot.lagMs),
      queue_bytes: hot.queueBytes,
      queue_limit: stream.queueBytes,
    }),

    /** Sends the waiting items only if Kafka accepts them. The completion sends the remaining items when their hour has closed. */
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
