import { performance } from 'node:perf_hooks';
import cassandra from 'cassandra-driver';
import { MillraceError } from '../../common/errors.js';
import { createPreparedWrites } from './prepared-writes.js';
import { reasonOf } from './reason.js';
import { WriteMerger } from './write-merger.js';

/** @import { Client, types } from 'cassandra-driver' */
/** @import { Write } from './write-merger.js' */

const { errors } = cassandra;

/**
 * One statement of ours: its CQL, the name under which its latency is reported, and how many rows of its answer make a
 * page where they are small ones.
 *
 * @typedef {{ name: string, cql: string, fetchSize?: number }} Statement
 */

/** @typedef {types.Row} Row */

/** @typedef {{ query: string, params: unknown[] }} Query one row of a batch */

/**
 * Lets requests through, a bounded number at a time.
 *
 * @typedef {object} Gate
 * @property {() => Promise<void> | undefined} enter settles when a request may be sent; undefined: at once. Where it fails there is nothing to leave
 * @property {(began: number, error?: unknown) => void} leave it was answered, or failed; `began` in ms of `performance.now()`
 * @property {() => void} cancel nothing was sent after all
 */

/** @type {Gate} */
const OPEN = { enter: () => undefined, leave: () => {}, cancel: () => {} };

/** Notes how long a request took. @callback Observe @param {{ query: string, ok: string }} labels a statement's name; `true` or `false` @param {number} seconds */

/**
 * The only way from the store to the driver: every request is prepared, timed under its statement's name, and fails
 * with an error of ours that says whether trying again can help, unless code of ours or the driver's is wrong.
 *
 * @param {Client} client
 * @param {Observe} observe
 * @param {Gate} [gate] holds each single request, from sending to answer: so nobody waits for a place while having one
 * @param {(routing: Buffer) => string | null} [replicasOf] names the nodes that hold a partition; null: unknown
 */
export function createSession(client, observe, gate = OPEN, replicasOf = () => null) {
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
   * A request that has its place.
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

  const execute = createPreparedWrites(client);
  const merger = new WriteMerger({
    acquire: gate.enter,
    release: gate.cancel,
    send: (name, queries, routing) => answered(name, () => execute(queries, routing)),
    replicasOf,
  });

  return {
    /**
     * @param {Statement} statement
     * @param {unknown[]} params
     * @returns {Promise<void>}
     * @throws {MillraceError} `unavailable` or `rejected`, as all requests here
     */
    async write({ name, cql }, params) {
      await timed(name, () => client.execute(cql, params));
    },

    /**
     * An unlogged batch for one partition of one table: one mutation for the server, however many rows.
     *
     * @param {string} name
     * @param {() => Query[]} take asked for the rows at the moment of sending, so that a batch can grow until then
     * @param {Buffer} [routingKey] see `routing.js`; without it the driver finds it out
     * @returns {Promise<unknown>}
     */
    writeBatch: (name, take, routingKey) => timed(name, () => execute(take(), routingKey)),

    /** The same, together with what else waits for the same nodes: see write-merger.js. */
    writeMerged: (/** @type {Write} */ write) => merger.write(write),

    /** Writes that wait to leave together. */
    get waiting() {
      return merger.waiting;
    },

    /** @param {Statement} statement @param {unknown[]} params @returns {Promise<Row | null>} */
    async one({ name, cql }, params) {
      return timed(name, async () => (await client.execute(cql, params)).first());
    },

    /**
     * One page of the driver's, for whoever reads an answer that is not bounded, in between doing something else.
     *
     * @param {Statement} statement
     * @param {unknown[]} params
     * @param {string} [pageState] of the page before
     * @returns {Promise<{ rows: Row[], next: string | undefined }>} `next` is undefined at the end
     */
    async page({ name, cql, fetchSize }, params, pageState) {
      const page = await timed(name, () => client.execute(cql, params, { pageState, fetchSize }));
      return { rows: page.rows, next: page.pageState };
    },

    /**
     * The rows of an answer page by page, none of which is kept.
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
     * All rows of an answer that is bounded by its statement. A page of the driver may be short, even empty, and is
     * the last one only when it has no page state.
     *
     * @param {Statement} statement
     * @param {unknown[]} params
     * @param {number} [most] stop after this many rows
     * @returns {Promise<Row[]>}
     */
    async all({ name, cql, fetchSize }, params, most = Number.POSITIVE_INFINITY) {
      /** @type {Row[]} */
      const rows = [];
      /** @type {string | undefined} */
      let pageState;
      do {
        /** @type {types.ResultSet} */
        const page = await timed(name, () => client.execute(cql, params, { pageState, fetchSize }));
        rows.push(...page.rows);
        pageState = page.pageState;
      } while (pageState && rows.length < most);
      return rows.length > most ? rows.slice(0, most) : rows;
    },
  };
}

/** @typedef {ReturnType<typeof createSession>} Session */

/** Protocol error codes (native_protocol_v4.spec, section 9) of content that no repetition makes acceptable. */
const REFUSALS = new Set([0x2000, 0x2200]);

/**
 * @param {unknown} error of the driver
 * @param {string} query name of the statement
 * @returns {unknown} what is to be thrown: `rejected`: this content never goes in; `unavailable`: try again; a defect,
 *   ours or the driver's, stays what it is, since neither can be said of it
 */
export function translate(error, query) {
  if (error instanceof MillraceError || isDefect(error)) return error;
  const refused = error instanceof errors.ResponseError && REFUSALS.has(error.code);
  return new MillraceError(refused ? 'rejected' : 'unavailable', `${query}: ${reasonOf(error)}`, {
    cause: error,
  });
}

/** @param {unknown} error @returns {boolean} nothing that the network or a server did: only code goes wrong this way */
const isDefect = (error) =>
  [TypeError, RangeError, ReferenceError, errors.ArgumentError].some((kind) => error instanceof kind);
