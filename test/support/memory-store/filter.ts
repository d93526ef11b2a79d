import { invalid } from './access.js';
import { encode } from './values.js';

/** @import { Access } from './access.js' */
/** @import { Statement, Term } from './cql.js' */
/** @import { Row } from './partition.js' */
/** @import { Table } from './tables.js' */

/** Makes the function that checks the conditions of a statement. @param {Access} access */
export function createFilter({ typeOf, boundValue, keyCell }) {
  /** @param {Table} table @param {Statement} statement @param {any[]} params @returns {((row: Row) => boolean) | null} checks all conditions on clustering columns; null: there are none */
  return function filterOf(table, { where }, params) {
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
          const wanted = boundValue(/** @type {Term} */ (terms[0]), params).map((/** @type {any} */ value) =>
            encode(/** @type {any} */ (typesOf[0]), value),
          );
          return (/** @type {Row} */ row) =>
            wanted.some((/** @type {Buffer} */ cell) => cell.equals(/** @type {Buffer} */ (row.key[place])));
        }
        const cells = terms.map((term, n) =>
          keyCell(table, /** @type {string} */ (columns[n]), term, params),
        );
        return (/** @type {Row} */ row) => {
          let order = 0;
          for (let n = 0; n < cells.length && order === 0; n++) {
            const type = /** @type {any} */ (typesOf[n]);
            order = type.compare(row.key[/** @type {number} */ (places[n])], cells[n]);
          }
          return holds(operator, order);
        };
      });
    return checks.length === 0 ? null : (row) => checks.every((check) => check(row));
  };
}

/** @param {string} operator @param {number} order of the row's value relative to the other value */
function holds(operator, order) {
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
