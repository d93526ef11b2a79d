import { randomUUID } from 'node:crypto';
import { connectionOptions, KAFKA_SETTINGS, Schemas } from '../../../schema/kafka/index.ts';
import { createLeases, Rounds, STOP_WITHIN_MS, Steps, withTimeLimit } from '../../background/index.ts';
import type { AnnouncedKinds } from '../../feature.ts';
import type { Outbox } from '../../ingest/outbox.ts';
import type { Context } from '../../observability/index.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { ClockGuard } from '../../store/clock-guard.ts';
import { createLeaseStore, Retry, type Store } from '../../store/index.ts';
import { createCompletion } from './completion/index.ts';
import { HotPath } from './hot-path.ts';
import { declareKafkaMetrics, type KafkaMetrics } from './metrics.ts';
import { SentNotes } from './notes.ts';
import { createRecordMaker } from './record-maker.ts';
import { createSenderThrottle, KafkaSender } from './sender.ts';
import { createStreamStore } from './store.ts';

type Completion = ReturnType<typeof createCompletion>;

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
export class StreamOut {
  #logger;
  #queueLimit;
  #retry;
  #notes;
  #hot;
  #completing;
  #completion;
  #loop;
  #notesTimer: NodeJS.Timeout | undefined;
  readonly blocks;
  readonly noteLatest;
  readonly removeLatest;

  constructor(
    context: Context,
    deps: {
      store: Store;
      clockGuard: ClockGuard;
      /** requests of ingest wait for the congestion window */
      isPressed: () => boolean;
      /** null: only for a replay */
      outbox: Outbox | null;
      announced: AnnouncedKinds;
      pauseMs: number;
    },
  ) {
    const { config, clock, logger, metrics } = context;
    const { store, clockGuard, isPressed, outbox, announced, pauseMs } = deps;
    const stream = config.of(KAFKA_SETTINGS);
    this.#logger = logger;
    this.#queueLimit = stream.queueBytes;
    const onRetry = () => metrics.retries.inc();
    const counters = declareKafkaMetrics(metrics);
    this.#retry = new Retry({ logger, onRetry });
    // The completion has its own retry, because it ends before the last notes are written.
    const completionRetry = new Retry({ logger, onRetry });
    const schemas = new Schemas(stream, logger);
    const records = createRecordMaker(stream, schemas.headOf);
    const createSender = senderFactory(context, counters);
    this.#completing = createSender('completion', false);
    const streaming = createStreamStore(store.session);
    const { everywhere } = store;
    this.#notes = new SentNotes({ store: streaming, retry: this.#retry, clock });
    this.#hot = new HotPath({
      queueBytes: stream.queueBytes,
      createSender: (topic) => createSender(`hot-${topic}`, true),
      schemas,
      records,
      notes: this.#notes,
      sendsLatest: stream.latest,
      clock,
      metrics: counters,
    });
    this.blocks = this.#hot.blocks;
    this.noteLatest = this.#hot.noteLatest;
    this.removeLatest = this.#hot.removeLatest;
    outbox?.subscribe(this.#hot.announce);
    const streamedUntil: Map<number, number> = new Map();
    const watermarkLagMs = () =>
      streamedUntil.size === 0 ? 0 : Math.max(0, clock() - Math.min(...streamedUntil.values()));
    const steps = new Steps({ retry: completionRetry, isPressed, overdueMs: watermarkLagMs });
    const owner = `${config.mqtt.clientId}:${randomUUID()}`;
    this.#completion = createCompletion({
      store: { ...store, events: everywhere.events, deadLetters: everywhere.deadLetters },
      streaming: createStreamStore(everywhere.session),
      announced,
      groups: config.retention.latestGroups,
      clock: clockGuard,
      steps,
      leases: createLeases({ store: createLeaseStore(store.session, 'stream_lease'), owner, logger }),
      sender: this.#completing,
      schemas,
      records,
      notes: this.#notes,
      sendsLatest: stream.latest,
      observer: {
        onCompleted: (blocks) => counters.completed.inc(blocks),
        onStreamed: (group, until) => streamedUntil.set(group, until),
      },
    });
    addGauges(metrics, { hot: this.#hot, queueLimit: stream.queueBytes, watermarkLagMs });
    const { completeDue } = this.#completion;
    this.#loop = new Rounds({
      steps,
      pauseMs,
      work: completeDue,
      logger,
      failed: 'completing Kafka failed, and goes on with the next check',
    });
  }

  begin(): Promise<void> {
    return this.#completion.begin();
  }

  replay(...args: Parameters<Completion['replay']>): ReturnType<Completion['replay']> {
    return this.#completion.replay(...args);
  }

  start({ completes }: { completes: boolean }) {
    this.#hot.start();
    const writeDue = () => void this.#notes.writeDue().catch(this.#onNotesFailed);
    this.#notesTimer = setInterval(writeDue, NOTES_EVERY_MS).unref();
    if (completes) this.#loop.start();
  }

  state(): StreamState {
    return {
      ok: !this.#hot.isFailing,
      lag_ms: Math.round(this.#hot.lagMs),
      queue_bytes: this.#hot.queueBytes,
      queue_limit: this.#queueLimit,
    };
  }

  /** Sends the waiting items only if Kafka accepts them. The completion sends the remaining items when their hour has closed. */
  async stop() {
    clearInterval(this.#notesTimer);
    const ended = this.#loop.stop();
    await this.#hot.stop(STOP_WITHIN_MS);
    await this.#completing.stop();
    await withTimeLimit(Promise.all([this.#hot.ended, ended]));
    await withTimeLimit(this.#notes.writeAll().catch(this.#onNotesFailed));
    this.#retry.abort();
  }

  /** Without its note, a block is sent a second time when its hour has closed. */
  #onNotesFailed = (error: unknown) => {
    if (!this.#retry.isAborted)
      this.#logger.warn({ err: error }, 'streaming out: the list of sent blocks was not written');
  };
}

function senderFactory({ config, logger }: Context, counters: KafkaMetrics) {
  const throttle = createSenderThrottle();
  return (name: string, waitsForTopics: boolean) =>
    new KafkaSender({
      options: connectionOptions(config.of(KAFKA_SETTINGS), `${config.mqtt.clientId}-${name}`),
      logger,
      throttle,
      waitsForTopics,
      onSent: (sent) => counters.records.inc({ topic: sent[0]?.topic ?? '' }, sent.length),
      onFailure: () => counters.failures.inc(),
    });
}

function addGauges(
  { gauge }: Metrics,
  { hot, queueLimit, watermarkLagMs }: { hot: HotPath; queueLimit: number; watermarkLagMs: () => number },
) {
  gauge('iot_stream_queue_bytes', 'Bytes of blocks that wait for Kafka', () => hot.queueBytes);
  gauge('iot_stream_queue_limit_bytes', 'Limit of these bytes: STREAM_QUEUE_BYTES', () => queueLimit);
  gauge('iot_stream_lag_seconds', 'Age of the block that waits longest for Kafka', () => hot.lagMs / 1000);
  gauge(
    'iot_stream_watermark_lag_seconds',
    'Age of streamed_until of the last group of devices; one to two hours are normal',
    () => watermarkLagMs() / 1000,
  );
}
