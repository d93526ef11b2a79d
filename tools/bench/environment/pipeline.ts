import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../../common/errors.ts';
import type { Latencies } from '../load/open-loop.ts';
import { type Shape, samplesOf } from '../load/shapes.ts';
import type { Child } from '../process/child.ts';

/** Each update costs ingest one rendering of its metrics page. */
const UPDATE_MS = 250;

/** Backlog at the broker, so that ingest is never idle: this many seconds of the commit rate, and at least this many messages. */
const BACKLOG_SECONDS = 0.6;
const MIN_BACKLOG = 2000;

const SETTLE_MS = 60_000;

/** The journal is steady when its age rises by less than this in a second. In seconds. */
const RISE = 0.5;

/** After this time without a commit, missing messages count as lost. */
const STUCK_MS = 30_000;
const POLL_MS = 200;

interface PipelineParts {
  name: string;
  broker: { url: string; pid: number; stop: () => Promise<void> };
  ingest: {
    pid: number;
    url?: string;
    metrics: () => Promise<(name: string) => number>;
    stop: () => Promise<void>;
  };
  publisher: Child;
}

type Counts = { published: number; committed: number };

export class Pipeline {
  readonly #parts: PipelineParts;
  #shape: Shape | null = null;
  #before = 0;
  #feeding = Promise.resolve();

  constructor(parts: PipelineParts) {
    this.#parts = parts;
  }

  get name() {
    return this.#parts.name;
  }

  get url() {
    return this.#parts.broker.url;
  }

  get api() {
    return this.#parts.ingest.url;
  }

  get pids(): Record<string, number> {
    const { ingest, broker, publisher } = this.#parts;
    return { ingest: ingest.pid, broker: broker.pid, publisher: publisher.pid };
  }

  metrics() {
    return this.#parts.ingest.metrics();
  }

  async committed(): Promise<number> {
    return (await this.metrics())('iot_ingest_samples_total');
  }

  /** Publishes as fast as the pipeline commits, until `end`. */
  async begin(shape: Shape) {
    this.#before = await this.committed();
    this.#shape = shape;
    await this.#parts.publisher.call('start', { url: this.url, shape });
    this.#feeding = this.#feed(shape);
    this.#feeding.catch(() => {}); // `end` awaits it, and throws.
  }

  /** Waits until the journal of ingest writes rows as fast as it takes samples. Before that, a part of the work is not measured. */
  async untilSteady() {
    const ageOf = async () => (await this.metrics())('iot_journal_age_seconds');
    let age = await ageOf();
    const deadline = Date.now() + SETTLE_MS;
    while (age > 0 && Date.now() < deadline) {
      await sleep(1000);
      const now = await ageOf();
      if (now < age + RISE) return;
      age = now;
    }
  }

  /**
   * Waits until all published samples are committed, and the rows of the journal are written.
   * @throws {MillraceError} `failed`: samples are missing, or ingest refused messages
   */
  async end() {
    const shape = this.#shape as Shape;
    this.#shape = null;
    await this.#feeding;
    const { published } = await this.#parts.publisher.call<Counts>('allow', 0);
    await this.#settle(published * samplesOf(shape));
  }

  /** @param rate samples/s @returns ends the load as `end` does */
  async hold(shape: Shape, rate: number): Promise<() => Promise<void>> {
    this.#before = await this.committed();
    await this.#parts.publisher.call('pace', { url: this.url, shape, rate, forMs: Infinity });
    return async () => {
      const { published } = await this.#parts.publisher.call<Counts>('unpace');
      await this.#settle(published * samplesOf(shape));
    };
  }

  /**
   * Publishes at a fixed rate in samples/s, and waits until all samples are committed. The pipeline must reach its broker through the
   * publisher's proxy, so that the latency of each message is known.
   * @throws {MillraceError} `failed`: a message was never acknowledged
   */
  async pace(
    shape: Shape,
    { rate, forMs }: { rate: number; forMs: number },
  ): Promise<{ published: number; latency: Latencies }> {
    const { publisher } = this.#parts;
    await publisher.call('pace', { url: this.url, shape, rate, forMs });
    let publishing = true;
    const over = publisher.call('paced').then(() => {
      publishing = false;
    });
    let counts = { published: 0, committed: 0 };
    let movedAt = Date.now();
    do {
      await sleep(POLL_MS);
      const now = await publisher.call<Counts>('counts');
      if (now.committed > counts.committed) movedAt = Date.now();
      counts = now;
      if (Date.now() - movedAt > STUCK_MS) {
        const missing = counts.published - counts.committed;
        throw new MillraceError('failed', `${this.name}: ${missing} messages are not acknowledged.`);
      }
    } while (publishing || counts.committed < counts.published);
    await over;
    await this.#untilWritten();
    const latency = await publisher.call<Latencies>('takeLatencies');
    await publisher.call('stop');
    return { published: counts.published * samplesOf(shape), latency };
  }

  async close() {
    await this.#parts.ingest.stop();
    await this.#parts.broker.stop();
  }

  async #feed(shape: Shape) {
    let last = { at: performance.now(), messages: 0 };
    while (this.#shape === shape) {
      const messages = ((await this.committed()) - this.#before) / samplesOf(shape);
      const at = performance.now();
      const rate = ((messages - last.messages) / (at - last.at)) * 1000;
      last = { at, messages };
      const backlog = Math.max(MIN_BACKLOG, rate * BACKLOG_SECONDS);
      await this.#parts.publisher.call('allow', Math.round(messages + backlog));
      await sleep(UPDATE_MS);
    }
  }

  async #untilWritten() {
    const deadline = Date.now() + SETTLE_MS;
    while ((await this.metrics())('iot_journal_samples') > 0 && Date.now() < deadline) await sleep(UPDATE_MS);
  }

  async #settle(due: number) {
    const deadline = Date.now() + SETTLE_MS;
    let there = 0;
    do {
      await sleep(UPDATE_MS);
      there = (await this.committed()) - this.#before;
    } while (there < due && Date.now() < deadline);
    await this.#parts.publisher.call('stop');
    await this.#untilWritten();
    const refused = (await this.metrics())('iot_ingest_dead_letters_total');
    // `there` may exceed `due`, because a redelivered message counts twice even if the database keeps it once.
    if (there < due || refused > 0) {
      throw new MillraceError(
        'failed',
        `${this.name}: of ${due} samples published ${there} are committed, ${refused} refused.`,
      );
    }
  }
}

export type Variant = Pick<Pipeline, 'name' | 'pids' | 'committed' | 'begin' | 'untilSteady' | 'end'>;
