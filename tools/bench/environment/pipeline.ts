import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../../common/errors.ts';
import type { Latencies } from '../load/open-loop.ts';
import { type Shape, samplesOf } from '../load/shapes.ts';
import type { Child } from '../process/child.ts';
import type { Broker } from './broker.ts';
import type { IngestProcess } from './ingest.ts';

/**
 * Interval in which the publisher gets the number of committed samples, in ms. Each update costs ingest one rendering of its
 * metrics page.
 */
const UPDATE_MS = 250;

/**
 * Size of the backlog at the broker, so that ingest is never idle: this many seconds of the commit rate, and at least this many
 * messages.
 */
const BACKLOG_SECONDS = 0.6;
const LEAST_BACKLOG = 2000;

/** Time limit for the commit of all samples after the last message was published, in ms. */
const SETTLE_MS = 60_000;

/** Creates a complete pipeline: a publisher, a broker, and an ingest process. */
export function createLine({
  name,
  broker,
  ingest,
  publisher,
  connections,
}: {
  name: string;
  broker: Broker;
  ingest: Pick<IngestProcess, 'pid' | 'metrics' | 'stop'> & {
    url?: string;
    ask: (call: string, argument?: unknown) => Promise<unknown>;
  };
  publisher: Child;
  /** number of connections of the publisher */
  connections: number;
}) {
  let shape: Shape | null = null;
  let before = 0;
  let feeding = Promise.resolve();
  const target = { url: broker.url, connections };

  const committed = async () => (await ingest.metrics())('iot_ingest_samples_total');

  /** Lets the publisher send as fast as ingest commits. */
  async function feed(running: Shape) {
    let last = { at: performance.now(), messages: 0 };
    let backlog = LEAST_BACKLOG;
    while (shape === running) {
      const messages = ((await committed()) - before) / samplesOf(running);
      const now = { at: performance.now(), messages };
      const rate = ((now.messages - last.messages) / (now.at - last.at)) * 1000;
      backlog = Math.max(LEAST_BACKLOG, rate * BACKLOG_SECONDS);
      last = now;
      await publisher.ask('allow', Math.round(messages + backlog));
      await sleep(UPDATE_MS);
    }
  }

  /**
   * Waits until all published samples are committed.
   * @param due number of published samples
   * @throws {MillraceError} `failed`: samples are missing, or ingest refused messages
   */
  async function settle(due: number) {
    const deadline = Date.now() + SETTLE_MS;
    let there = 0;
    do {
      await sleep(UPDATE_MS);
      there = (await committed()) - before;
    } while (there < due && Date.now() < deadline);
    await publisher.ask('stop');
    const refused = (await ingest.metrics())('iot_ingest_dead_letters_total');
    // `there` may exceed `due`, because a redelivered message counts twice even if the database keeps it once.
    if (there < due || refused > 0) {
      throw new MillraceError(
        'failed',
        `${name}: of ${due} samples published ${there} are committed, ${refused} refused.`,
      );
    }
  }

  return {
    name,
    /** The URL of the broker. */
    url: broker.url,
    /** The URL of the API. Peers have no API. */
    api: ingest.url,
    pids: {
      ingest: ingest.pid,
      ...(broker.pid && { broker: broker.pid }),
      publisher: publisher.pid,
    } as Record<string, number>,
    committed,
    metrics: ingest.metrics,

    /** Sets the number of requests in flight of a process that was started with a gate. */
    inFlight: async (most: number) => {
      await ingest.ask('inFlight', most);
    },

    async begin(load: Shape) {
      before = await committed();
      shape = load;
      await publisher.ask('start', { ...target, shape: load });
      feeding = feed(load);
      feeding.catch(() => {}); // `end` awaits it, and throws.
    },

    /**
     * Stops publishing, and waits until all published samples are committed.
     * @throws {MillraceError} `failed`: samples are missing, or ingest refused messages
     */
    async end() {
      const load = shape as Shape;
      shape = null;
      await feeding;
      await settle((await publisher.ask<Counts>('allow', 0)).published * samplesOf(load));
    },

    /**
     * Publishes at a fixed rate while something else is measured.
     * @param rate samples/s
     * @returns a function that ends the load as `end` does; `others`: samples that reached ingest in other ways
     */
    async hold(load: Shape, rate: number): Promise<(others?: number) => Promise<void>> {
      before = await committed();
      await publisher.ask('pace', { ...target, shape: load, rate, forMs: Infinity });
      return async (others = 0) =>
        settle((await publisher.ask<Counts>('unpace')).published * samplesOf(load) + others);
    },

    async close() {
      await ingest.stop();
      await broker.stop();
    },
  };
}

export type Line = ReturnType<typeof createLine>;

/** A variant receives a load, and counts the samples that it committed. */
export type Variant = Pick<Line, 'name' | 'pids' | 'committed' | 'inFlight' | 'begin' | 'end' | 'close'>;

const LOOK_MS = 200;

/** If no sample is committed for this time, in ms, missing messages count as lost. */
const STUCK_MS = 30_000;

/**
 * Creates the function that publishes at a fixed rate. The ingest process of the line must reach its broker through the
 * publisher's wire, so that the latency of each message is known.
 */
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
  /**
   * Publishes at a fixed rate, and waits until all samples are committed.
   * @returns `published`: number of samples
   * @throws {MillraceError} `failed`: a message was never acknowledged
   */
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
      /** called several times a second with the counts so far */
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

/** Numbers of samples. `published`: as the publisher sent them */
type Counts = { published: number; committed: number };

export type Reading = { published: Latencies; delivered: Latencies };

export type Pace = ReturnType<typeof createPace>;
