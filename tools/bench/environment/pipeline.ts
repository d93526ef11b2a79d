import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../../common/errors.ts';
import type { Latencies } from '../load/open-loop.ts';
import { type Shape, samplesOf } from '../load/shapes.ts';
import type { Child } from '../process/child.ts';
import type { Broker } from './broker.ts';
import type { IngestProcess } from './ingest.ts';

/** Each update costs ingest one rendering of its metrics page. */
const UPDATE_MS = 250;

/** Backlog at the broker, so that ingest is never idle: this many seconds of the commit rate, and at least this many messages. */
const BACKLOG_SECONDS = 0.6;
const LEAST_BACKLOG = 2000;

const SETTLE_MS = 60_000;

interface LineParts {
  name: string;
  broker: Broker;
  ingest: Pick<IngestProcess, 'pid' | 'metrics' | 'stop'> & {
    url?: string;
    ask: (call: string, argument?: unknown) => Promise<unknown>;
  };
  publisher: Child;
  connections: number;
}

export class Line {
  readonly name: string;
  readonly url: string;
  readonly api: string | undefined;
  readonly pids: Record<string, number>;
  readonly metrics: IngestProcess['metrics'];
  readonly #parts: LineParts;
  #shape: Shape | null = null;
  #before = 0;
  #feeding = Promise.resolve();

  constructor(parts: LineParts) {
    const { name, broker, ingest, publisher } = parts;
    this.#parts = parts;
    this.name = name;
    this.url = broker.url;
    this.api = ingest.url;
    this.pids = {
      ingest: ingest.pid,
      ...(broker.pid && { broker: broker.pid }),
      publisher: publisher.pid,
    };
    this.metrics = ingest.metrics;
  }

  async committed(): Promise<number> {
    return (await this.metrics())('iot_ingest_samples_total');
  }

  /** Works only for a process that was started with a gate. */
  async inFlight(most: number) {
    await this.#parts.ingest.ask('inFlight', most);
  }

  async begin(load: Shape) {
    this.#before = await this.committed();
    this.#shape = load;
    await this.#parts.publisher.ask('start', { ...this.#target(), shape: load });
    this.#feeding = this.#feed(load);
    this.#feeding.catch(() => {}); // `end` awaits it, and throws.
  }

  /**
   * Waits until all published samples are committed.
   * @throws {MillraceError} `failed`: samples are missing, or ingest refused messages
   */
  async end() {
    const load = this.#shape as Shape;
    this.#shape = null;
    await this.#feeding;
    await this.#settle((await this.#parts.publisher.ask<Counts>('allow', 0)).published * samplesOf(load));
  }

  /** @param rate samples/s @returns ends the load as `end` does; `others`: samples that reached ingest in other ways */
  async hold(load: Shape, rate: number): Promise<(others?: number) => Promise<void>> {
    this.#before = await this.committed();
    await this.#parts.publisher.ask('pace', { ...this.#target(), shape: load, rate, forMs: Infinity });
    return async (others = 0) =>
      this.#settle((await this.#parts.publisher.ask<Counts>('unpace')).published * samplesOf(load) + others);
  }

  async close() {
    await this.#parts.ingest.stop();
    await this.#parts.broker.stop();
  }

  #target() {
    return { url: this.url, connections: this.#parts.connections };
  }

  /** Publishes as fast as ingest commits. */
  async #feed(running: Shape) {
    let last = { at: performance.now(), messages: 0 };
    let backlog = LEAST_BACKLOG;
    while (this.#shape === running) {
      const messages = ((await this.committed()) - this.#before) / samplesOf(running);
      const now = { at: performance.now(), messages };
      const rate = ((now.messages - last.messages) / (now.at - last.at)) * 1000;
      backlog = Math.max(LEAST_BACKLOG, rate * BACKLOG_SECONDS);
      last = now;
      await this.#parts.publisher.ask('allow', Math.round(messages + backlog));
      await sleep(UPDATE_MS);
    }
  }

  /** @throws {MillraceError} `failed`: samples are missing, or ingest refused messages */
  async #settle(due: number) {
    const deadline = Date.now() + SETTLE_MS;
    let there = 0;
    do {
      await sleep(UPDATE_MS);
      there = (await this.committed()) - this.#before;
    } while (there < due && Date.now() < deadline);
    await this.#parts.publisher.ask('stop');
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

/** Counts the samples that it committed. */
export type Variant = Pick<Line, 'name' | 'pids' | 'committed' | 'inFlight' | 'begin' | 'end' | 'close'>;

const LOOK_MS = 200;

/** After this time without a commit, missing messages count as lost. */
const STUCK_MS = 30_000;

/** The ingest process of the line must reach its broker through the publisher's wire, so that the latency of each message is known. */
export const createPace =
  ({
    line,
    broker,
    publisher,
    connections,
  }: {
    line: Pick<Line, 'name'>;
    broker: Broker;
    publisher: Child;
    connections: number;
  }) =>
  /** Waits until all samples are committed. @throws {MillraceError} `failed`: a message was never acknowledged */
  async (
    shape: Shape,
    {
      rate,
      forMs,
      onLook = () => {},
    }: {
      /** samples/s */
      rate: number;
      forMs: number;
      /** several times a second */
      onLook?: (counts: Counts) => Promise<void> | void;
    },
  ): Promise<{ published: number; latency: Reading }> => {
    await publisher.ask('pace', { url: broker.url, shape, connections, rate, forMs });
    let publishing = true;
    const over = publisher.ask('paced').then(() => {
      publishing = false;
    });
    let counts = { published: 0, committed: 0 };
    let movedAt = Date.now();
    do {
      await sleep(LOOK_MS);
      const now = await publisher.ask<Counts>('counts');
      if (now.committed > counts.committed) movedAt = Date.now();
      counts = now;
      await onLook(counts);
      if (Date.now() - movedAt > STUCK_MS) {
        const missing = counts.published - counts.committed;
        throw new MillraceError('failed', `${line.name}: ${missing} messages are not acknowledged.`);
      }
    } while (publishing || counts.committed < counts.published);
    await over;
    const latency = await publisher.ask<Reading>('latencies', { reset: false });
    await publisher.ask('stop');
    return { published: counts.published * samplesOf(shape), latency };
  };

type Counts = { published: number; committed: number };

export type Reading = { published: Latencies; delivered: Latencies };

export type Pace = ReturnType<typeof createPace>;
