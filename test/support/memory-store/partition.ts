import type { Table } from './tables.ts';
import type { Value } from './values.ts';

/** One written value. A cell whose value is null is a deletion. */
export interface Cell {
  /** write timestamp, epoch µs */
  stamp: number;
  /** epoch s; Infinity: never */
  expiresAt: number;
  value: Value;
}

/**
 * A row. `marker`: written by an INSERT, so that a row with only a key exists; `deletedAt`: write timestamp up to which
 * all its cells are deleted.
 *
 * `statics`: the row with the static columns of the partition; null in that row itself.
 */
export type Row = {
  key: Buffer[];
  marker: Cell | null;
  deletedAt: number;
  cells: Map<string, Cell>;
  statics: Row | null;
};

/**
 * Chooses between two values of one cell, as Cassandra's `Cells.resolveRegular` does: the greater write timestamp; a
 * deletion before a value; a cell that expires before one that does not, and the later expiry; the greater bytes.
 */
export function resolve(before: Cell | null | undefined, after: Cell): Cell {
  if (!before) return after;
  if (before.stamp !== after.stamp) return before.stamp > after.stamp ? before : after;
  if (before.value === null || after.value === null) return before.value === null ? before : after;
  if (before.expiresAt !== after.expiresAt) {
    // A cell without expiry loses against one with an expiry.
    const rank = ({ expiresAt }: Cell) => (Number.isFinite(expiresAt) ? expiresAt : -1);
    return rank(before) > rank(after) ? before : after;
  }
  return Buffer.compare(before.value, after.value) >= 0 ? before : after;
}

/** Makes a partition, whose rows are in the order of their clustering key. */
export function createPartition({ clustering }: Table) {
  const rows: Row[] = [];
  let deletedAt = Number.NEGATIVE_INFINITY;
  const statics: Row = { key: [], marker: null, deletedAt, cells: new Map(), statics: null };

  /** @param b may be the beginning of a key */
  function compareKeys(a: Buffer[], b: Buffer[]) {
    for (let i = 0; i < Math.min(a.length, b.length); i++) {
      const { type, sign } = clustering[i] as Table['clustering'][number];
      const order = type.compare(a[i] as Buffer, b[i] as Buffer);
      if (order !== 0) return sign * order;
    }
    return 0;
  }

  /** @param key or its beginning @returns the index of the first row that is not before it */
  function indexOf(key: Buffer[]): number {
    let [low, high] = [0, rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareKeys((rows[middle] as Row).key, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    statics,

    row(key: Buffer[]): Row {
      const index = indexOf(key);
      const found = rows[index];
      if (found && compareKeys(found.key, key) === 0) return found;
      const row: Row = { key, marker: null, deletedAt, cells: new Map(), statics };
      rows.splice(index, 0, row);
      return row;
    },

    /** @param beginning of a key; empty: all rows @returns in order */
    *startingWith(beginning: Buffer[]): Generator<Row, void> {
      for (let i = indexOf(beginning); i < rows.length; i++) {
        const row = rows[i] as Row;
        if (compareKeys(row.key, beginning) !== 0) return;
        yield row;
      }
    },

    isAfter: (a: Buffer[], b: Buffer[]) => compareKeys(a, b) > 0,

    /** @param beginning of a key; empty: the whole partition @param isWanted the rows of a range; null: all */
    delete(beginning: Buffer[], stamp: number, isWanted: ((row: Row) => boolean) | null) {
      if (beginning.length === 0 && !isWanted) {
        deletedAt = Math.max(deletedAt, stamp);
        statics.deletedAt = deletedAt;
      }
      for (const row of this.startingWith(beginning))
        if (!isWanted || isWanted(row)) row.deletedAt = Math.max(row.deletedAt, stamp);
    },
  };
}

export type Partition = ReturnType<typeof createPartition>;

export const isAlive = ({ deletedAt }: Row, cell: Cell | null | undefined, nowS: number): cell is Cell =>
  cell !== null &&
  cell !== undefined &&
  cell.value !== null &&
  cell.stamp > deletedAt &&
  cell.expiresAt > nowS;

/** @param nowS epoch s */
export function isRowAlive(row: Row, nowS: number) {
  if (isAlive(row, row.marker, nowS)) return true;
  for (const cell of row.cells.values()) if (isAlive(row, cell, nowS)) return true;
  return false;
}
