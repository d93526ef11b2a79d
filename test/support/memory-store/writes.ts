import { type Access, invalid } from './access.ts';
import type { Statement } from './cql.ts';
import { createFilter } from './filter.ts';
import { isRowAlive, type Row, resolve } from './partition.ts';
import type { Table } from './tables.ts';
import { encode } from './values.ts';

/** Makes the functions that execute plain writes and lightweight transactions. @param nextStamp epoch µs */
export function createWrites(access: Access, nextStamp: () => number) {
  const filterOf = createFilter(access);
  const {
    nowS,
    tableOf,
    typeOf,
    boundValue,
    numberOf,
    keyOf,
    equalOf,
    isKey,
    cellOf,
    shownCell,
    elementName,
  } = access;

  function writeCells(
    table: Table,
    row: Row,
    { kind, values, ttl }: Statement,
    params: unknown[],
    stamp: number,
  ) {
    const seconds = numberOf(ttl, params) ?? table.ttlSeconds;
    const expiresAt = seconds > 0 ? nowS() + seconds : Number.POSITIVE_INFINITY;
    if (kind === 'insert') row.marker = resolve(row.marker, { stamp, expiresAt, value: Buffer.alloc(0) });
    for (const { column, term, adds } of values) {
      const type = typeOf(table, column);
      if (isKey(table, column)) continue;
      const value = boundValue(term, params);
      if (value === undefined) continue;
      if (adds && type.collection) {
        for (const [key, element] of type.collection.elements(value)) {
          const name = elementName(column, key);
          row.cells.set(name, resolve(row.cells.get(name), { stamp, expiresAt, value: element }));
        }
        continue;
      }
      const cell = { stamp, expiresAt, value: value === null ? null : encode(type, value) };
      row.cells.set(column, resolve(row.cells.get(column), cell));
    }
  }

  function write(statement: Statement, params: unknown[], stamp: number) {
    const table = tableOf(statement.table);
    const equal = statement.kind === 'insert' ? statement.values : equalOf(statement);
    const { partition, clustering } = keyOf(table, equal, params);
    const writtenAt = numberOf(statement.stamp, params) ?? stamp;
    if (statement.kind === 'delete' && statement.columns.length === 0)
      return partition.delete(clustering, writtenAt, filterOf(table, statement, params));
    const isStatic =
      statement.values.every(({ column }) => table.statics.has(column)) && statement.kind === 'update';
    if (clustering.length < table.clustering.length && !isStatic)
      throw invalid('Some clustering keys are missing');
    const row = isStatic ? partition.statics : partition.row(clustering);
    if (statement.kind !== 'delete') return writeCells(table, row, statement, params, writtenAt);
    for (const { column, element } of statement.columns) {
      const { collection } = typeOf(table, column);
      const key = element && collection && encode(collection.key, boundValue(element, params));
      const name = key ? elementName(column, key) : column;
      const cell = { stamp: writtenAt, expiresAt: Number.POSITIVE_INFINITY, value: null };
      row.cells.set(name, resolve(row.cells.get(name), cell));
    }
  }

  function transact(statement: Statement, params: unknown[]): Record<string, unknown> {
    const table = tableOf(statement.table);
    const { partition, cells, clustering } = keyOf(
      table,
      statement.kind === 'insert' ? statement.values : equalOf(statement),
      params,
    );
    const row = [...partition.startingWith(clustering)].find((candidate) => isRowAlive(candidate, nowS()));
    const { conditions, exists } = statement;
    const isMet = conditions
      ? conditions.every(({ column, term }) => {
          const wanted = boundValue(term, params);
          const found = row && cellOf(row, column);
          if (wanted === null || wanted === undefined) return !found;
          return found !== undefined && encode(typeOf(table, column), wanted).equals(found.value as Buffer);
        })
      : exists === (row !== undefined);
    if (isMet) {
      write(statement, params, nextStamp());
      return { '[applied]': true };
    }
    if (!row) return { '[applied]': false };
    const shown = conditions ? conditions.map(({ column }) => column) : [...table.columns.keys()];
    return {
      '[applied]': false,
      ...Object.fromEntries(shown.map((column) => [column, shownCell(table, cells, row, column)])),
    };
  }

  return { write, transact };
}
