import { createAccess, invalid } from './access.js';
import { parse } from './cql.js';
import { createSelect } from './select.js';
import { createWrites } from './writes.js';

/** @import { Statement } from './cql.js' */
/** @import { Table } from './tables.js' */

/** @typedef {Record<string, any>} Answer */
/** @typedef {{ rows: Answer[], rowLength: number, pageState: string | undefined, first: () => Answer | null }} Result */
/** @typedef {{ query: string, params: any[] }} Query */

/**
 * A request as the database receives it.
 *
 * @typedef {object} Request
 * @property {string} table
 * @property {Statement['kind']} kind
 * @property {Query[]} queries one query, or those of a batch
 */

/**
 * Makes a database in memory of one node, with the cell rules of Cassandra. The greater write timestamp wins, then the greater
 * bytes. A row exists as long as one of its cells does. Cells with a TTL expire by the given clock. It knows
 * the statements of `api/store` and of tests.
 *
 * @param {object} options
 * @param {Map<string, Table>} options.tables
 * @param {() => number} options.clock epoch ms
 * @param {(request: Request, run: () => Promise<Result>) => Promise<Result>} [options.around] sees each request, and may
 *   delay or fail it, before it is applied or after
 */
export function createDatabase({ tables, clock, around = (_request, run) => run() }) {
  /** @type {Map<string, Statement>} */
  const statements = new Map();
  let lastStamp = 0;

  /** The driver gives each request a later write timestamp. @returns {number} epoch µs */
  function nextStamp() {
    lastStamp = Math.max(lastStamp + 1, clock() * 1000);
    return lastStamp;
  }

  const access = createAccess({ tables, clock });
  const { write, transact } = createWrites(access, nextStamp);
  const select = createSelect(access, clock);

  /** @param {string} cql */
  function statementOf(cql) {
    let statement = statements.get(cql);
    if (!statement) {
      statement = parse(cql);
      statements.set(cql, statement);
    }
    return statement;
  }

  /** @param {Query[]} queries @param {{ fetchSize?: number, pageState?: string }} options @returns {Result} */
  function apply(queries, options) {
    const stamp = nextStamp();
    /** @type {Result} */
    let result = resultOf([]);
    for (const { query, params } of queries) {
      const statement = statementOf(query);
      if (statement.kind === 'select') {
        const { rows, next } = select(statement, params, options);
        result = resultOf(rows, next);
      } else if (statement.kind === 'truncate') access.truncate(statement.table);
      else if (statement.conditions || statement.exists !== null)
        result = resultOf([transact(statement, params)]);
      else write(statement, params, stamp);
    }
    return result;
  }

  /** @param {Query[]} queries @param {object} [options] */
  async function request(queries, options = {}) {
    const [first] = queries;
    if (!first) throw invalid('an empty batch');
    const { table, kind } = statementOf(first.query);
    return around({ table, kind, queries }, async () => apply(queries, options));
  }

  return {
    /** Executes a query as the client of the driver does. @param {string} query @param {any[]} [params] @param {object} [options] */
    execute: (query, params = [], options) => request([{ query, params }], options),

    /** @param {Query[]} queries @param {object} [_options] */
    batch: (queries, _options) => request(queries),

    async shutdown() {},
  };
}

/** @typedef {ReturnType<typeof createDatabase>} Database */

/** @param {Answer[]} rows @param {string} [pageState] @returns {Result} */
const resultOf = (rows, pageState) => ({
  rows,
  rowLength: rows.length,
  pageState,
  first: () => rows[0] ?? null,
});
