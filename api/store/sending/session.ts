import { performance } from 'node:perf_hooks';
import cassandra from 'cassandra-driver';
import { MillraceError } from '../../../common/errors.js';
import { reasonOf } from '../error-reason.js';
import { createPreparedWrites } from './frames.js';
import { halvesOf, isTimeout, requestsOf } from './request-bounds.js';
import { DEFAULT_LIMITS, WriteMerger } from './write-merger.js';

/** @import { Client, types } from 'cassandra-driver' */
/** @import { Stamps } from './frames.js' */
/** @import { PendingRow } from './pending-rows.js' */
/** @import { BatchLimits } from './write-merger.js' */

const { errors } = cassandra;

/**
 * A statement: its CQL, the name under which its latency is reported, and the page size in rows if it is not the default.
 *
 * @typedef {{ name: string, cql: string, fetchSize?: number }} Statement
 */

/** @typedef {types.Row} Row */

/** @typedef {{ query: string, params: unknown[] }} Query one row of a batch */

/**
 * Bounds the requests in flight.
 *
 * @typedef {object} Gate
 * @property {() => Promise<void> | undefined} enter resolves when a request may be sent; undefined: it may be sent now. After a
 *   rejection, do not call `leave`
 * @property {(began: number, error?: unknown) => void} leave called when the request was answered or failed;
 *   `began` in ms of `performance.now()`
 * @property {() => void} cancel called when no request was sent
 */

/** Lets all requests pass at once. @type {Gate} */
const OPEN = { enter: () => undefined, leave: () => {}, cancel: () => {} };

/** Records the latency of a request. @callback Observe @param {{ query: string, ok: string }} labels a statement's name; `true` or `false` @param {number} seconds */

/**
 * Creates a session, through which the store sends all requests to the driver. Every request is prepared, and its latency
 * is reported under the name of its statement. A failed request throws a MillraceError that distinguishes retryable from
 * permanent failures. Errors that are defects of this code or of the driver are thrown unchanged.
 *
 * @param {Client} client
 * @param {Observe} observe
 * @param {Gate} [gate] bounds the requests in flight; default: no bound
 * @param {(routing: Buffer) => string | null} [replicasOf] names the replica set of a partition; null: unknown
 * @param {BatchLimits} [limits] limits of batches over several partitions; default: `DEFAULT_LIMITS`
 * @param {Stamps} [stamps] stamps the batches and the merged rows
 */
export function createSession(
  client,
  observe,
  gate = OPEN,
  replicasOf = () => null,
  limits = DEFAULT_LIMITS,
  stamps = undefined,
) {
  /**
   * @template T
   * @param {string} name
   * @param {() => Promise<T>} request
   * @returns {Promise<T>}
   */
  async function timed(name, request) {
    const room = gate.enter();
    if (room) await room;
    return answered(name, request);
  }

  /**
   * Sends a request that has entered the gate.
   *
   * @template T
   * @param {string} name
   * @param {() => Promise<T>} request
   * @returns {Promise<T>}
   */
  async function answered(name, request) {
    const began = performance.now();
    /** @type {unknown} */
    let failure;
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

  /**
   * Sends a batch. If it times out, its halves are sent, because it may be too large for a busy database.
   *
   * @param {string} name
   * @param {Query[]} queries
   * @param {Buffer} [routingKey]
   * @returns {Promise<void>}
   */
  async function sendHalving(name, queries, routingKey) {
    try {
      await timed(name, () => execute(queries, routingKey));
    } catch (error) {
      if (queries.length === 1 || !isTimeout(error)) throw error;
      for (const half of halvesOf(queries)) await sendHalving(name, half, routingKey);
    }
  }

  return {
    /**
     * @param {Statement} statement
     * @param {unknown[]} params
     * @returns {Promise<void>}
     * @throws {MillraceError} `unavailable` or `rejected`, like all requests of a session
     */
    async write({ name, cql }, params) {
      await timed(name, () => client.execute(cql, params));
    },

    /**
     * Writes rows of one partition of one table, in unlogged batches of limited size, one after the other.
     *
     * @param {string} name
     * @param {Query[]} queries
     * @param {Buffer} [routingKey] see `routing.js`; without it the driver computes one
     * @returns {Promise<void>}
     */
    async writeBatch(name, queries, routingKey) {
      for (const request of requestsOf(queries)) await sendHalving(name, request, routingKey);
    },

    /** Sends a row, together with other rows for the same replicas if some wait: see write-merger.js. */
    writeMerged: (/** @type {PendingRow<any>} */ row) => merger.write(row),

    /** Number of merged writes that wait to be sent. */
    get waiting() {
      return merger.waiting;
    },

    /** @param {Statement} statement @param {unknown[]} params @returns {Promise<Row | null>} */
    async one({ name, cql }, params) {
      return timed(name, async () => (await client.execute(cql, params)).first());
    },

    /**
     * Reads one page of an unbounded result.
     *
     * @param {Statement} statement
     * @param {unknown[]} params
     * @param {string} [pageState] `next` of the previous page
     * @returns {Promise<{ rows: Row[], next: string | undefined }>} `next` is undefined at the end
     */
    async page({ name, cql, fetchSize }, params, pageState) {
      const page = await timed(name, () => client.execute(cql, params, { pageState, fetchSize }));
      return { rows: page.rows, next: page.pageState };
    },

    /**
     * Reads an unbounded result page by page.
     *
     * @param {Statement} statement
     * @param {unknown[]} params
     * @returns {AsyncGenerator<Row[], void>}
     */
    async *pages({ name, cql, fetchSize }, params) {
      /** @type {string | undefined} */
      let pageState;
      do {
        /** @type {types.ResultSet} */
        const page = await timed(name, () => client.execute(cql, params, { pageState, fetchSize }));
        yield page.rows;
        pageState = page.pageState;
      } while (pageState);
    },

    /**
     * Reads all rows of a result, for statements whose result is bounded. The read ends at a page without a page state. A
     * short or empty page is no end, because the driver may return such pages at any time.
     *
     * @param {Statement} statement
     * @param {unknown[]} params
     * @param {number} [limit] limit of rows (default: unlimited)
     * @returns {Promise<Row[]>}
     */
    async all({ name, cql, fetchSize }, params, limit = Number.POSITIVE_INFINITY) {
      /** @type {Row[]} */
      const rows = [];
      /** @type {string | undefined} */
      let pageState;
      do {
        /** @type {types.ResultSet} */
        const page = await timed(name, () => client.execute(cql, params, { pageState, fetchSize }));
        rows.push(...page.rows);
        pageState = page.pageState;
      } while (pageState && rows.length < limit);
      return rows.length > limit ? rows.slice(0, limit) : rows;
    },
  };
}

/** @typedef {ReturnType<typeof createSession>} Session */

/** Protocol error codes (native_protocol_v4.spec, section 9) for requests that the server rejects on each attempt. */
const REFUSALS = new Set([0x2000, 0x2200]);

/**
 * @param {unknown} error of the driver
 * @param {string} query name of the statement
 * @returns {unknown} the error to throw: `rejected` is permanent, `unavailable` can be retried; a defect of this code or the driver
 *   is returned unchanged
 */
export function translate(error, query) {
  if (error instanceof MillraceError || isDefect(error)) return error;
  const refused = error instanceof errors.ResponseError && REFUSALS.has(error.code);
  return new MillraceError(refused ? 'rejected' : 'unavailable', `${query}: ${reasonOf(error)}`, {
    cause: error,
  });
}

/** @param {unknown} error @returns {boolean} true for errors that only a defect in code can cause */
const isDefect = (error) =>
  [TypeError, RangeError, ReferenceError, errors.ArgumentError].some((type) => error instanceof type);
