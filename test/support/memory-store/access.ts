import cassandra from 'cassandra-driver';
import { createPartition, isAlive } from './partition.js';
import { encode } from './values.js';

/** @import { Statement, Term } from './cql.js' */
/** @import { Cell, Partition, Row } from './partition.js' */
/** @import { Table } from './tables.js' */
/** @import { Collection, Element } from './values.js' */

const { errors } = cassandra;

/** The answer of the server to an invalid request. @param {string} message */
export const invalid = (message) => new errors.ResponseError(0x2200, message);

/**
 * Finds the tables, partitions and cells that statements name.
 *
 * @param {object} options
 * @param {Map<string, Table>} options.tables
 * @param {() => number} options.clock epoch ms
 */
export function createAccess({ tables, clock }) {
  /** @type {Map<string, Map<string, Partition>>} */
  const data = new Map([...tables.keys()].map((name) => [name, new Map()]));

  const nowS = () => Math.floor(clock() / 1000);

  /** @param {string} name @returns {Table} */
  function tableOf(name) {
    const table = tables.get(name);
    if (!table) throw invalid(`unconfigured table ${name}`);
    return table;
  }

  /** @param {Table} table @param {string} column */
  function typeOf(table, column) {
    const type = table.columns.get(column);
    if (!type) throw invalid(`Undefined column name ${column} in table ${table.name}`);
    return type;
  }

  /** @param {Term} term @param {any[]} params @returns {any} */
  function boundValue(term, params) {
    if ('literal' in term) return term.literal;
    if (term.bind >= params.length) throw invalid('Invalid amount of bind variables');
    return params[term.bind];
  }

  /** @param {Table} table @param {string} column @param {Term} term @param {any[]} params @returns {Buffer} */
  function keyCell(table, column, term, params) {
    const value = boundValue(term, params);
    if (value === null || value === undefined)
      throw invalid(`Invalid null value in condition for column ${column}`);
    return encode(typeOf(table, column), value);
  }

  /** @param {Term | null} term @param {any[]} params @returns {number | null} */
  function numberOf(term, params) {
    if (!term) return null;
    const value = boundValue(term, params);
    return Buffer.isBuffer(value)
      ? Number(value.length === 8 ? value.readBigInt64BE() : value.readInt32BE())
      : Number(value);
  }

  /** @param {Table} table @param {Buffer[]} key */
  function partitionOf(table, key) {
    const partitions = /** @type {Map<string, any>} */ (data.get(table.name));
    const id = key.map((cell) => cell.toString('latin1')).join('\u0000|');
    let partition = partitions.get(id);
    if (!partition) {
      partition = createPartition(table);
      partitions.set(id, partition);
    }
    return partition;
  }

  /**
   * Returns the key cells that a statement compares by equality: the partition key, and the beginning of the clustering key.
   *
   * @param {Table} table
   * @param {Array<{ column: string, term: Term }>} equal
   * @param {any[]} params
   */
  function keyOf(table, equal, params) {
    const cellOf = (/** @type {string} */ column) => {
      const found = equal.find((condition) => condition.column === column);
      return found && keyCell(table, column, found.term, params);
    };
    const partition = table.partition.map((column) => {
      const cell = cellOf(column);
      if (!cell) throw invalid(`Some partition key parts are missing: ${column}`);
      return cell;
    });
    const clustering = [];
    for (const { column } of table.clustering) {
      const cell = cellOf(column);
      if (!cell) break;
      clustering.push(cell);
    }
    return { partition: partitionOf(table, partition), cells: [...partition, ...clustering], clustering };
  }

  /** @param {Statement} statement */
  const equalOf = ({ where }) =>
    where.flatMap(({ columns: [column], operator, terms: [term] }) =>
      operator === '=' && column && term ? [{ column, term }] : [],
    );

  /** @param {Table} table @param {string} column */
  const isKey = (table, column) =>
    table.partition.includes(column) || table.clustering.some((key) => key.column === column);

  /** @param {string} column @param {Buffer} key of an element @returns {string} the name of its cell */
  const elementName = (column, key) => `${column}[${key.toString('hex')}]`;

  /** @param {Collection} collection @param {Row} row @param {string} column */
  function shownCollection(collection, row, column) {
    /** @type {Element[]} */
    const elements = [];
    for (const [name, cell] of [...row.cells].sort()) {
      if (!name.startsWith(`${column}[`) || !isAlive(row, cell, nowS())) continue;
      const key = Buffer.from(name.slice(column.length + 1, -1), 'hex');
      elements.push([key, /** @type {Buffer} */ (cell.value)]);
    }
    return elements.length > 0 ? collection.decode(elements) : null;
  }

  /** @param {Row} row @param {string} column @returns {Cell | undefined} the cell, if it is alive */
  function cellOf(row, column) {
    const cell = row.cells.get(column);
    return isAlive(row, cell, nowS()) ? cell : undefined;
  }

  /** @param {Table} table @param {Buffer[]} partition cells of its key @param {Row} row @param {string} column */
  function shownCell(table, partition, row, column) {
    const type = typeOf(table, column);
    const ofPartition = table.partition.indexOf(column);
    if (ofPartition >= 0) return type.decode(/** @type {Buffer} */ (partition[ofPartition]));
    const ofClustering = table.clustering.findIndex((key) => key.column === column);
    if (ofClustering >= 0) {
      const cell = row.key[ofClustering];
      return cell ? type.decode(cell) : null;
    }
    const holder = (table.statics.has(column) && row.statics) || row;
    if (type.collection) return shownCollection(type.collection, holder, column);
    const value = cellOf(holder, column)?.value;
    return value ? type.decode(value) : null;
  }

  return {
    nowS,
    tableOf,
    typeOf,
    boundValue,
    keyCell,
    numberOf,
    keyOf,
    equalOf,
    isKey,
    cellOf,
    elementName,
    shownCell,

    /** @param {string} name of the table to empty */
    truncate: (name) => data.get(tableOf(name).name)?.clear(),
  };
}

/** @typedef {ReturnType<typeof createAccess>} Access */
