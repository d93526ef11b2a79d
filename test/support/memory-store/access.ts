import cassandra from 'cassandra-driver';
import type { Statement, Term } from './cql.ts';
import { type Cell, createPartition, isAlive, type Partition, type Row } from './partition.ts';
import type { Table } from './tables.ts';
import { type Collection, type Element, encode } from './values.ts';

const { errors } = cassandra;

/** The answer of the server to an invalid request. */
export const invalid = (message: string) => new errors.ResponseError(0x2200, message);

export function createAccess({
  tables,
  clock,
}: {
  tables: Map<string, Table>;
  /** epoch ms */
  clock: () => number;
}) {
  const data: Map<string, Map<string, Partition>> = new Map(
    [...tables.keys()].map((name) => [name, new Map()]),
  );

  const nowS = () => Math.floor(clock() / 1000);

  function tableOf(name: string): Table {
    const table = tables.get(name);
    if (!table) throw invalid(`unconfigured table ${name}`);
    return table;
  }

  function typeOf(table: Table, column: string) {
    const type = table.columns.get(column);
    if (!type) throw invalid(`Undefined column name ${column} in table ${table.name}`);
    return type;
  }

  function boundValue(term: Term, params: unknown[]): unknown {
    if ('literal' in term) return term.literal;
    if (term.bind >= params.length) throw invalid('Invalid amount of bind variables');
    return params[term.bind];
  }

  function keyCell(table: Table, column: string, term: Term, params: unknown[]): Buffer {
    const value = boundValue(term, params);
    if (value === null || value === undefined)
      throw invalid(`Invalid null value in condition for column ${column}`);
    return encode(typeOf(table, column), value);
  }

  function numberOf(term: Term | null, params: unknown[]): number | null {
    if (!term) return null;
    const value = boundValue(term, params);
    return Buffer.isBuffer(value)
      ? Number(value.length === 8 ? value.readBigInt64BE() : value.readInt32BE())
      : Number(value);
  }

  function partitionOf(table: Table, key: Buffer[]) {
    const partitions = data.get(table.name) as Map<string, Partition>;
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
   */
  function keyOf(table: Table, equal: Array<{ column: string; term: Term }>, params: unknown[]) {
    const cellOf = (column: string) => {
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

  const equalOf = ({ where }: Statement) =>
    where.flatMap(({ columns: [column], operator, terms: [term] }) =>
      operator === '=' && column && term ? [{ column, term }] : [],
    );

  const isKey = (table: Table, column: string) =>
    table.partition.includes(column) || table.clustering.some((key) => key.column === column);

  /** @param key of an element @returns the name of its cell */
  const elementName = (column: string, key: Buffer): string => `${column}[${key.toString('hex')}]`;

  function shownCollection(collection: Collection, row: Row, column: string) {
    const elements: Element[] = [];
    for (const [name, cell] of [...row.cells].sort()) {
      if (!name.startsWith(`${column}[`) || !isAlive(row, cell, nowS())) continue;
      const key = Buffer.from(name.slice(column.length + 1, -1), 'hex');
      elements.push([key, cell.value as Buffer]);
    }
    return elements.length > 0 ? collection.decode(elements) : null;
  }

  function cellOf(row: Row, column: string): Cell | undefined {
    const cell = row.cells.get(column);
    return isAlive(row, cell, nowS()) ? cell : undefined;
  }

  /** @param partition cells of its key */
  function shownCell(table: Table, partition: Buffer[], row: Row, column: string) {
    const type = typeOf(table, column);
    const ofPartition = table.partition.indexOf(column);
    if (ofPartition >= 0) return type.decode(partition[ofPartition] as Buffer);
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

    truncate: (name: string) => data.get(tableOf(name).name)?.clear(),
  };
}

export type Access = ReturnType<typeof createAccess>;
