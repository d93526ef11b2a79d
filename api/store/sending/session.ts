import { performance } from 'node:perf_hooks';
import type { Client, types } from 'cassandra-driver';
import cassandra from 'cassandra-driver';
import { MillraceError } from '../../../common/errors.ts';
import { reasonOf } from '../error-reason.ts';
import { createPreparedWrites, type Stamps } from './frames.ts';
import type { PendingRow } from './pending-rows.ts';
import { halvesOf, isTimeout, requestsOf } from './request-bounds.ts';
import { type BatchLimits, DEFAULT_LIMITS, WriteMerger } from './write-merger.ts';

const { errors } = cassandra;

/**
 * A statement: its CQL, the name under which its latency is reported, and the page size in rows if it is not the default.
 */
export type Statement = { name: string; cql: string; fetchSize?: number };

export type Row = types.Row;

/** one row of a batch */
export type Query = { query: string; params: unknown[] };

/** Bounds the requests in flight. */
export interface Gate {
  /**
   * resolves when a request may be sent; undefined: it may be sent now. After a rejection, do not call
   * `leave`
   */
  enter: () => Promise<void> | undefined;
  /** called when the request was answered or failed; `began` in ms of `performance.now()` */
  leave: (began: number, error?: unknown) => void;
  /** called when no request was sent */
  cancel: () => void;
}

/** Lets all requests pass at once. */
const OPEN: Gate = { enter: () => undefined, leave: () => {}, cancel: () => {} };

/** Records the latency of a request. @param labels a statement's name; `true` or `false` */
export type Observe = (labels: { query: string; ok: string }, seconds: number) => void;

/**
 * Creates a session, through which the store sends all requests to the driver. Every request is prepared, and its latency
 * is reported under the name of its statement. A failed request throws a MillraceError that distinguishes retryable from
 * permanent failures. Errors that are defects of this code or of the driver are thrown unchanged.
 * @param gate bounds the requests in flight; default: no bound
 * @param replicasOf names the replica set of a partition; null: unknown
 * @param limits limits of batches over several partitions; default: `DEFAULT_LIMITS`
 * @param stamps stamps the batches and the merged rows
 */
export function createSession(
  client: Client,
  observe: Observe,
  gate: Gate = OPEN,
  replicasOf: (routing: Buffer) => string | null = () => null,
  limits: BatchLimits = DEFAULT_LIMITS,
  stamps: Stamps | undefined = undefined,
) {
  async function timed<T>(name: string, request: () => Promise<T>): Promise<T> {
    const room = gate.enter();
    if (room !== undefined) await room;
    return answered(name, request);
  }

  /** Sends a request that has entered the gate. */
  async function answered<T>(name: string, request: () => Promise<T>): Promise<T> {
    const began = performance.now();
    let failure: unknown;
    try {
      return await request();
    } catch (error) {
      failure = translate(error, name);
      throw failure;
    } finally {
      gate.leave(began, failure);
      observe({ query: name, ok: String(failure === undefined) }, (performance.now() - began) / 1000);
    }
  }

  const execute = createPreparedWrites(client, stamps);
  const merger = new WriteMerger({
    acquire: () => gate.enter(),
    release: () => gate.cancel(),
    send: (name, queries, routing) => answered(name, () => execute(queries, routing)),
    replicasOf,
    limits,
  });

  /** Sends a batch. If it times out, its halves are sent, because it may be too large for a busy database. */
  async function sendHalving(name: string, queries: Query[], routingKey?: Buffer): Promise<void> {
    try {
      await timed(name, () => execute(queries, routingKey));
    } catch (error) {
      if (queries.length === 1 || !isTimeout(error)) throw error;
      for (const half of halvesOf(queries)) await sendHalving(name, half, routingKey);
    }
  }

  return {
    /** @throws {MillraceError} `unavailable` or `rejected`, like all requests of a session */
    async write({ name, cql }: Statement, params: unknown[]): Promise<void> {
      await timed(name, () => client.execute(cql, params));
    },

    /**
     * Writes rows of one partition of one table, in unlogged batches of limited size, one after the other.
     * @param routingKey see `routing.ts`; without it the driver computes one
     */
    async writeBatch(name: string, queries: Query[], routingKey?: Buffer): Promise<void> {
      for (const request of requestsOf(queries)) await sendHalving(name, request, routingKey);
    },

    /** Sends a row, together with other rows for the same replicas if some wait: see write-merger.ts. */
    writeMerged: (row: PendingRow) => merger.write(row),

    /** Number of merged writes that wait to be sent. */
    get waiting() {
      return merger.waiting;
    },

    async one({ name, cql }: Statement, params: unknown[]): Promise<Row | null> {
      return timed(name, async () => (await client.execute(cql, params)).first());
    },

    /**
     * Reads one page of an unbounded result.
     * @param pageState `next` of the previous page
     * @returns `next` is undefined at the end
     */
    async page(
      { name, cql, fetchSize }: Statement,
      params: unknown[],
      pageState?: string,
    ): Promise<{ rows: Row[]; next: string | undefined }> {
      const page = await timed(name, () => client.execute(cql, params, { pageState, fetchSize }));
      return { rows: page.rows, next: page.pageState };
    },

    /** Reads an unbounded result page by page. */
    async *pages({ name, cql, fetchSize }: Statement, params: unknown[]): AsyncGenerator<Row[], void> {
      let pageState: string | undefined;
      do {
        const page: types.ResultSet = await timed(name, () =>
          client.execute(cql, params, { pageState, fetchSize }),
        );
        yield page.rows;
        pageState = page.pageState;
      } while (pageState);
    },

    /**
     * Reads all rows of a result, for statements whose result is bounded. The read ends at a page without a page state. A
     * short or empty page is no end, because the driver may return such pages at any time.
     * @param limit limit of rows (default: unlimited)
     */
    async all(
      { name, cql, fetchSize }: Statement,
      params: unknown[],
      limit: number = Number.POSITIVE_INFINITY,
    ): Promise<Row[]> {
      const rows: Row[] = [];
      let pageState: string | undefined;
      do {
        const page: types.ResultSet = await timed(name, () =>
          client.execute(cql, params, { pageState, fetchSize }),
        );
        rows.push(...page.rows);
        pageState = page.pageState;
      } while (pageState && rows.length < limit);
      return rows.length > limit ? rows.slice(0, limit) : rows;
    },
  };
}

export type Session = ReturnType<typeof createSession>;

/** Protocol error codes (native_protocol_v4.spec, section 9) for requests that the server rejects on each attempt. */
const REFUSALS = new Set([0x2000, 0x2200]);

/**
 * @param error of the driver
 * @param query name of the statement
 * @returns the error to throw: `rejected` is permanent, `unavailable` can be retried; a defect of this code or the driver is
 * returned unchanged
 */
export function translate(error: unknown, query: string): unknown {
  if (error instanceof MillraceError || isDefect(error)) return error;
  const refused = error instanceof errors.ResponseError && REFUSALS.has(error.code);
  return new MillraceError(refused ? 'rejected' : 'unavailable', `${query}: ${reasonOf(error)}`, {
    cause: error,
  });
}

/** @returns true for errors that only a defect in code can cause */
const isDefect = (error: unknown): boolean =>
  [TypeError, RangeError, ReferenceError, errors.ArgumentError].some((type) => error instanceof type);
