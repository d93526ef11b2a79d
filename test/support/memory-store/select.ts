import cassandra from 'cassandra-driver';
import type { Access } from './access.ts';
import type { Selector, Statement } from './cql.ts';
import { createFilter } from './filter.ts';
import { isRowAlive, type Row } from './partition.ts';
import type { Table } from './tables.ts';

const { types } = cassandra;

/** Default rows of a page, as in `api/store/client.ts`. */
const FETCH_SIZE = 100;

type Answer = Record<string, unknown>;

/** Makes the function that executes SELECT, page by page. @param clock epoch ms */
export function createSelect(access: Access, clock: () => number) {
  const filterOf = createFilter(access);
  const { nowS, tableOf, numberOf, keyOf, equalOf, cellOf, shownCell } = access;

  function select(
    statement: Statement,
    params: unknown[],
    { fetchSize = FETCH_SIZE, pageState }: { fetchSize?: number; pageState?: string },
  ): { rows: Answer[]; next?: string } {
    if (statement.table === 'system.local')
      return { rows: [{ now: types.TimeUuid.fromDate(new Date(clock())) }] };
    const table = tableOf(statement.table);
    const { partition, cells, clustering } = keyOf(table, equalOf(statement), params);
    const after = pageState ? JSON.parse(pageState) : null;
    const last = after?.key.map((cell: string) => Buffer.from(cell, 'hex'));
    let left = after?.left ?? numberOf(statement.limit, params) ?? Number.POSITIVE_INFINITY;
    const isWanted = filterOf(table, statement, params) ?? (() => true);
    const { selectors } = statement;
    const [first] = selectors ?? [];
    const count = first?.kind === 'count' ? first : null;
    const found: Row[] = [];
    let next: string | undefined;
    for (const row of partition.startingWith(clustering)) {
      if (last && !partition.isAfter(row.key, last)) continue;
      if (!isRowAlive(row, nowS()) || !isWanted(row)) continue;
      if (left === 0) break;
      if (found.length === fetchSize && !count) {
        const key = (found.at(-1) as Row).key.map((cell) => cell.toString('hex'));
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
    if (count) return { rows: [countOf(table, cells, found, count)] };
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

  function stampOf(row: Row, column: string) {
    const cell = cellOf(row, column);
    return cell ? types.Long.fromNumber(cell.stamp) : null;
  }

  const countOf = (table: Table, cells: Buffer[], rows: Row[], { column, name }: Selector) => ({
    [name]: types.Long.fromNumber(rows.filter((row) => shownCell(table, cells, row, column) !== null).length),
  });

  return select;
}

/** @returns whether it selects a whole partition */
const isWhole = ({ partition }: Table, { where }: Statement): boolean =>
  where.every(({ columns }) => columns.every((column) => partition.includes(column)));
