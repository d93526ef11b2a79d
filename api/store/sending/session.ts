import { performance } from 'node:perf_hooks';
import type { Client, types } from 'cassandra-driver';
import cassandra from 'cassandra-driver';
import { MillraceError } from '../../../common/errors.ts';
import type { Levels } from '../consistency.ts';
import { reasonOf } from '../error-reason.ts';
import { createPreparedWrites } from './frames.ts';
import type { PendingRow } from './pending-rows.ts';
import { halvesOf, isTimeout, requestsOf } from './request-bounds.ts';
import type { CommitStamps } from './stamps.ts';
import { type BatchLimits, DEFAULT_LIMITS, WriteMerger } from './write-merger.ts';

const { errors } = cassandra;

/** `name` labels the latency; `fetchSize` in rows */
export type Statement = { name: string; cql: string; fetchSize?: number };

export type Row = types.Row;

export type Query = { query: string; params: unknown[] };

export interface Gate {
  /** resolves when a request may be sent; undefined: it may be sent now. After a rejection, do not call `leave` */
  enter: () => Promise<void> | undefined;
  /** called when the request was answered or failed; `began` in ms of `performance.now()` */
  leave: (began: number, error?: unknown) => void;
  cancel: () => void;
}

const OPEN: Gate = { enter: () => undefined, leave: () => {}, cancel: () => {} };

/** @param labels a statement's name; `true` or `false` */
export type Observe = (labels: { query: string; ok: string }, seconds: number) => void;

interface SessionOptions {
  /** bounds the requests in flight; default: no bound */
  gate?: Gate | undefined;
  /** names the replica set of a partition; null: unknown */
  replicasOf?: ((routing: Buffer) => string | null) | undefined;
  /** limits of batches over several partitions; default: `DEFAULT_LIMITS` */
  limits?: BatchLimits | undefined;
  /** stamps the batches and the merged rows */
  stamps?: CommitStamps;
  /** default: the level of the settings */
  levels?: Levels;
}

/**
 * The store sends all requests to the driver through a session. Every request is prepared, and its latency is reported
 * under the name of its statement. A failed request throws a MillraceError that distinguishes retryable from permanent
 * failures. Errors that are defects of this code or of the driver are thrown unchanged.
 */
export function createSession(
  client: Client,
  observe: Observe,
  { gate = OPEN, replicasOf = () => null, limits = DEFAULT_LIMITS, stamps, levels }: SessionOptions = {},
) {
  const requests = new Requests(observe, gate);
  const execute = createPreparedWrites(client, stamps, levels?.write);
  const read = (
    cql: string,
    params: unknown[],
    options: { pageState?: string | undefined; fetchSize?: number } = {},
  ) => client.execute(cql, params, { ...options, consistency: levels?.read() });
  const merger = new WriteMerger({
    acquire: () => gate.enter(),
    release: () => gate.cancel(),
    send: (name, queries, routing) => requests.answered(name, () => execute(queries, routing)),
    replicasOf,
    limits,
  });

  /** After a timeout the halves are sent, because the batch may be too large for a busy database. */
  async function sendHalving(name: string, queries: Query[], routingKey?: Buffer): Promise<void> {
    try {
      await requests.timed(name, () => execute(queries, routingKey));
    } catch (error) {
      if (queries.length === 1 || !isTimeout(error)) throw error;
      for (const half of halvesOf(queries)) await sendHalving(name, half, routingKey);
    }
  }

  return {
    /** @throws `unavailable` or `rejected`, like all requests of a session */
    async write({ name, cql }: Statement, params: unknown[]): Promise<void> {
      await requests.timed(name, () => client.execute(cql, params, { consistency: levels?.write() }));
    },

    /** The rows belong to one partition of one table. @param routingKey see `routingKey`; without it the driver computes one */
    async writeBatch(name: string, queries: Query[], routingKey?: Buffer): Promise<void> {
      for (const request of requestsOf(queries)) await sendHalving(name, request, routingKey);
    },

    /** Together with other rows for the same replicas if some wait: see write-merger.ts. */
    writeMerged: (row: PendingRow) => merger.write(row),

    get waiting() {
      return merger.waiting;
    },

    async one({ name, cql }: Statement, params: unknown[]): Promise<Row | null> {
      return requests.timed(name, async () => (await read(cql, params)).first());
    },

    /** @returns `next` is undefined at the end */
    async page(
      { name, cql, fetchSize }: Statement,
      params: unknown[],
      pageState?: string,
    ): Promise<{ rows: Row[]; next: string | undefined }> {
      const page = await requests.timed(name, () => read(cql, params, { pageState, fetchSize }));
      return { rows: page.rows, next: page.pageState };
    },

    async *pages({ name, cql, fetchSize }: Statement, params: unknown[]): AsyncGenerator<Row[], void> {
      let pageState: string | undefined;
      do {
        const page: types.ResultSet = await requests.timed(name, () =>
          read(cql, params, { pageState, fetchSize }),
        );
        yield page.rows;
        pageState = page.pageState;
      } while (pageState);
    },

    /**
     * For statements whose result is bounded. The read ends at a page without a page state. A short or empty
     * page is no end, because the driver may return such pages at any time.
     */
    async all(
      { name, cql, fetchSize }: Statement,
      params: unknown[],
      limit: number = Number.POSITIVE_INFINITY,
    ): Promise<Row[]> {
      const rows: Row[] = [];
      let pageState: string | undefined;
      do {
        const page: types.ResultSet = await requests.timed(name, () =>
          read(cql, params, { pageState, fetchSize }),
        );
        rows.push(...page.rows);
        pageState = page.pageState;
      } while (pageState && rows.length < limit);
      return rows.length > limit ? rows.slice(0, limit) : rows;
    },
  };
}

export type Session = ReturnType<typeof createSession>;

/** Sends requests through the gate, and observes them. */
class Requests {
  #observe: Observe;
  #gate: Gate;

  constructor(observe: Observe, gate: Gate) {
    this.#observe = observe;
    this.#gate = gate;
  }

  async timed<T>(name: string, request: () => Promise<T>): Promise<T> {
    const room = this.#gate.enter();
    if (room !== undefined) await room;
    return this.answered(name, request);
  }

  /** The gate must have been entered. */
  async answered<T>(name: string, request: () => Promise<T>): Promise<T> {
    const began = performance.now();
    let failure: unknown;
    try {
      return await request();
    } catch (error) {
      failure = translate(error, name);
      throw failure;
    } finally {
      this.#gate.leave(began, failure);
      this.#observe({ query: name, ok: String(failure === undefined) }, (performance.now() - began) / 1000);
    }
  }
}

/** The server rejects these requests on each attempt (native_protocol_v4.spec, section 9). */
const REFUSALS = new Set([0x2000, 0x2200]);

/**
 * @param query name of the statement
 * @returns `rejected` is permanent, `unavailable` can be retried; a defect of this code or the driver is returned
 *   unchanged
 */
export function translate(error: unknown, query: string): unknown {
  if (error instanceof MillraceError || isDefect(error)) return error;
  const refused = error instanceof errors.ResponseError && REFUSALS.has(error.code);
  return new MillraceError(refused ? 'rejected' : 'unavailable', `${query}: ${reasonOf(error)}`, {
    cause: error,
  });
}

const isDefect = (error: unknown): boolean =>
  [TypeError, RangeError, ReferenceError, errors.ArgumentError].some((type) => error instanceof type);
