import cassandra from 'cassandra-driver';
import { createFilter } from './filter.js';
import { isRowAlive } from './partition.js';

/** @import { Access } from './access.js' */
/** @import { Statement, Term } from './cql.js' */
/** @import { Row } from './partition.js' */
/** @import { Table } from './tables.js' */

const { types } = cassandra;

/** Default rows of a page, as in `api/store/client.js`. */
const FETCH_SIZE = 100;

/** @typedef {Record<string, any>} Answer */

/**
 * Makes the function that executes SELECT, page by page.
 *
 * @param {Access} access
 * @param {() => number} clock epoch ms
 */
export function createSelect(access, clock) {
  const filterOf = createFilter(access);
  const { nowS, tableOf, numberOf, keyOf, equalOf, cellOf, shownCell } = access;

  /** @param {Statement} statement @param {any[]} params @param {{ fetchSize?: number, pageState?: string }} options @returns {{ rows: Answer[], next?: string }} */
  function select(statement, params, { fetchSize = FETCH_SIZE, pageState }) {
    if (statement.table === 'system.local')
      return { rows: [{ now: types.TimeUuid.fromDate(new Date(clock())) }] };
    const table = tableOf(statement.table);
    const { partition, cells, clustering } = keyOf(table, equalOf(statement), params);
    const after = pageState ? JSON.parse(pageState) : null;
    const last = after?.key.map((/** @type {string} */ cell) => Buffer.from(cell, 'hex'));
    let left = after?.left ?? numberOf(statement.limit, params) ?? Number.POSITIVE_INFINITY;
    const isWanted = filterOf(table, statement, params) ?? (() => true);
    const { selectors } = statement;
    const isCount = selectors?.[0]?.kind === 'count';
    /** @type {Row[]} */
    const found = [];
    let next;
    for (const row of partition.startingWith(clustering)) {
      if (last && !partition.isAfter(row.key, last)) continue;
      if (!isRowAlive(row, nowS()) || !isWanted(row)) continue;
      if (left === 0) break;
      if (found.length === fetchSize && !isCount) {
        const key = /** @type {Row} */ (found.at(-1)).key.map((cell) => cell.toString('hex'));
        next = JSON.stringify({ key, left: Number.isFinite(left) ? left : null });
        break;
      }
      left--;
      found.push(row);
    }
    // A partition without rows returns its static columns as one row, unless the query selects rows by their key.
    if (
      found.length === 0 &&
      !last &&
      table.statics.size > 0 &&
      isWhole(table, statement) &&
      isRowAlive(partition.statics, nowS())
    )
      found.push(partition.statics);
    if (selectors && isCount) return { rows: [countOf(table, cells, found, selectors[0])] };
    const shown =
      selectors ?? [...table.columns.keys()].map((column) => ({ kind: 'column', column, name: column }));
    const rows = found.map((row) =>
      Object.fromEntries(
        shown.map(({ kind, column, name }) => [
          name,
          kind === 'writetime' ? stampOf(row, column) : shownCell(table, cells, row, column),
        ]),
      ),
    );
    return { rows, next };
  }

  /** @param {Row} row @param {string} column */
  function stampOf(row, column) {
    const cell = cellOf(row, column);
    return cell ? types.Long.fromNumber(cell.stamp) : null;
  }

  /** @param {Table} table @param {Buffer[]} cells @param {Row[]} rows @param {any} selector */
  const countOf = (table, cells, rows, { column, name }) => ({
    [name]: types.Long.fromNumber(rows.filter((row) => shownCell(table, cells, row, column) !== null).length),
  });

  return select;
}

/** @param {Table} table @param {Statement} statement @returns {boolean} whether it selects a whole partition */
const isWhole = ({ partition }, { where }) =>
  where.every(({ columns }) => columns.every((column) => partition.includes(column)));
