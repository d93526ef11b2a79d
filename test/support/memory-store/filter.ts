import { type Access, invalid } from './access.ts';
import type { Statement, Term } from './cql.ts';
import type { Row } from './partition.ts';
import type { Table } from './tables.ts';
import { encode, type ValueType } from './values.ts';

export function createFilter({ typeOf, boundValue, keyCell }: Access) {
  /** @returns checks all conditions on clustering columns; null: there are none */
  return function filterOf(
    table: Table,
    { where }: Statement,
    params: unknown[],
  ): ((row: Row) => boolean) | null {
    const checks = where
      .filter(({ columns: [column = ''] }) => !table.partition.includes(column))
      .map(({ columns, operator, terms }) => {
        const places = columns.map((column) => {
          const index = table.clustering.findIndex((key) => key.column === column);
          if (index < 0) throw invalid(`Cannot execute this query: ${column} is no part of the key`);
          return index;
        });
        const typesOf = columns.map((column) => typeOf(table, column));
        if (operator === 'IN') {
          const [place = 0] = places;
          const values = boundValue(terms[0] as Term, params) as unknown[];
          const wanted = values.map((value) => encode(typesOf[0] as ValueType, value));
          return (row: Row) => wanted.some((cell) => cell.equals(row.key[place] as Buffer));
        }
        const cells = terms.map((term, n) => keyCell(table, columns[n] as string, term, params));
        return (row: Row) => {
          let order = 0;
          for (let n = 0; n < cells.length && order === 0; n++) {
            const type = typesOf[n] as ValueType;
            order = type.compare(row.key[places[n] as number] as Buffer, cells[n] as Buffer);
          }
          return holds(operator, order);
        };
      });
    return checks.length === 0 ? null : (row) => checks.every((check) => check(row));
  };
}

/** @param order of the row's value relative to the other value */
function holds(operator: string, order: number) {
  switch (operator) {
    case '=':
      return order === 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    default:
      throw new RangeError(`the database in memory has no operator ${operator}`);
  }
}
