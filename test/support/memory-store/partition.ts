/**
 * One written value. A cell whose value is null is a deletion.
 *
 * @typedef {object} Cell
 * @property {number} stamp write timestamp, epoch µs
 * @property {number} expiresAt epoch s; Infinity: never
 * @property {Value} value
 */

/** @import { Table } from './tables.js' */
/** @import { Value } from './values.js' */

/**
 * A row. `marker`: written by an INSERT, so that a row with only a key exists; `deletedAt`: write timestamp up to which
 * all its cells are deleted.
 *
 * `statics`: the row with the static columns of the partition; null in that row itself.
 *
 * @typedef {{ key: Buffer[], marker: Cell | null, deletedAt: number, cells: Map<string, Cell>, statics: Row | null }} Row
 */

/**
 * Chooses between two values of one cell, as Cassandra's `Cells.resolveRegular` does: the greater write timestamp; a
 * deletion before a value; a cell that expires before one that does not, and the later expiry; the greater bytes.
 *
 * @param {Cell | null | undefined} before
 * @param {Cell} after
 * @returns {Cell}
 */
export function resolve(before, after) {
  if (!before) return after;
  if (before.stamp !== after.stamp) return before.stamp > after.stamp ? before : after;
  if (before.value === null || after.value === null) return before.value === null ? before : after;
  if (before.expiresAt !== after.expiresAt) {
    // A cell without expiry loses against one with an expiry.
    const rank = (/** @type {Cell} */ { expiresAt }) => (Number.isFinite(expiresAt) ? expiresAt : -1);
    return rank(before) > rank(after) ? before : after;
  }
  return Buffer.compare(before.value, after.value) >= 0 ? before : after;
}

/** Makes a partition, whose rows are in the order of their clustering key. @param {Table} table */
export function createPartition({ clustering }) {
  /** @type {Row[]} */
  const rows = [];
  let deletedAt = Number.NEGATIVE_INFINITY;
  /** @type {Row} */
  const statics = { key: [], marker: null, deletedAt, cells: new Map(), statics: null };

  /** @param {Buffer[]} a @param {Buffer[]} b may be the beginning of a key */
  function compareKeys(a, b) {
    for (let i = 0; i < Math.min(a.length, b.length); i++) {
      const { type, sign } = /** @type {Table['clustering'][number]} */ (clustering[i]);
      const order = type.compare(/** @type {Buffer} */ (a[i]), /** @type {Buffer} */ (b[i]));
      if (order !== 0) return sign * order;
    }
    return 0;
  }

  /** @param {Buffer[]} key or its beginning @returns {number} the index of the first row that is not before it */
  function indexOf(key) {
    let [low, high] = [0, rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareKeys(/** @type {Row} */ (rows[middle]).key, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    statics,

    /** @param {Buffer[]} key @returns {Row} created if it does not exist */
    row(key) {
      const index = indexOf(key);
      const found = rows[index];
      if (found && compareKeys(found.key, key) === 0) return found;
      /** @type {Row} */
      const row = { key, marker: null, deletedAt, cells: new Map(), statics };
      rows.splice(index, 0, row);
      return row;
    },

    /** @param {Buffer[]} beginning of a key; empty: all rows @returns {Generator<Row, void>} in order */
    *startingWith(beginning) {
      for (let i = indexOf(beginning); i < rows.length; i++) {
        const row = /** @type {Row} */ (rows[i]);
        if (compareKeys(row.key, beginning) !== 0) return;
        yield row;
      }
    },

    /** @param {Buffer[]} a @param {Buffer[]} b */
    isAfter: (a, b) => compareKeys(a, b) > 0,

    /** @param {Buffer[]} beginning of a key; empty: the whole partition @param {number} stamp @param {((row: Row) => boolean) | null} isWanted the rows of a range; null: all */
    delete(beginning, stamp, isWanted) {
      if (beginning.length === 0 && !isWanted) {
        deletedAt = Math.max(deletedAt, stamp);
        statics.deletedAt = deletedAt;
      }
      for (const row of this.startingWith(beginning))
        if (!isWanted || isWanted(row)) row.deletedAt = Math.max(row.deletedAt, stamp);
    },
  };
}

/** @typedef {ReturnType<typeof createPartition>} Partition */

/** @param {Row} row @param {Cell | null | undefined} cell @param {number} nowS epoch s @returns {cell is Cell} whether it is neither deleted nor expired */
export const isAlive = ({ deletedAt }, cell, nowS) =>
  cell !== null &&
  cell !== undefined &&
  cell.value !== null &&
  cell.stamp > deletedAt &&
  cell.expiresAt > nowS;

/** @param {Row} row @param {number} nowS epoch s */
export function isRowAlive(row, nowS) {
  if (isAlive(row, row.marker, nowS)) return true;
  for (const cell of row.cells.values()) if (isAlive(row, cell, nowS)) return true;
  return false;
}
