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
 * A row. `marker`: written by an INSERT, so that a row of a key alone is there; `deletedAt`: write timestamp up to which
 * everything in it is deleted.
 *
 * `statics`: what all rows of the partition share; null in that row itself.
 *
 * @typedef {{ key: Buffer[], marker: Cell | null, deletedAt: number, cells: Map<string, Cell>, statics: Row | null }} Row
 */

/**
 * Which of two values of one cell stays, as Cassandra's `Cells.resolveRegular` decides: the greater write timestamp; a
 * deletion before a value; what expires before what does not, and the later expiry; the greater bytes.
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
    // What never expires loses against what does.
    const rank = (/** @type {Cell} */ { expiresAt }) => (Number.isFinite(expiresAt) ? expiresAt : -1);
    return rank(before) > rank(after) ? before : after;
  }
  return Buffer.compare(before.value, after.value) >= 0 ? before : after;
}

/**
 * The rows of one partition, in the order of their clustering key.
 *
 * @param {Table} table
 */
export function createPartition({ clustering }) {
  /** @type {Row[]} */
  const rows = [];
  let deletedAt = Number.NEGATIVE_INFINITY;
  /** @type {Row} */
  const statics = { key: [], marker: null, deletedAt, cells: new Map(), statics: null };

  /** @param {Buffer[]} a @param {Buffer[]} b may be the beginning of a key */
  function compareKeys(a, b) {
    for (let at = 0; at < Math.min(a.length, b.length); at++) {
      const { type, sign } = /** @type {Table['clustering'][number]} */ (clustering[at]);
      const order = type.compare(/** @type {Buffer} */ (a[at]), /** @type {Buffer} */ (b[at]));
      if (order !== 0) return sign * order;
    }
    return 0;
  }

  /** @param {Buffer[]} key or its beginning @returns {number} the index of the first row that does not come before it */
  function placeOf(key) {
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

    /** @param {Buffer[]} key @returns {Row} made where there is none */
    row(key) {
      const at = placeOf(key);
      const found = rows[at];
      if (found && compareKeys(found.key, key) === 0) return found;
      /** @type {Row} */
      const row = { key, marker: null, deletedAt, cells: new Map(), statics };
      rows.splice(at, 0, row);
      return row;
    },

    /** @param {Buffer[]} beginning of a key; empty: all rows @returns {Generator<Row, void>} in order */
    *startingWith(beginning) {
      for (let at = placeOf(beginning); at < rows.length; at++) {
        const row = /** @type {Row} */ (rows[at]);
        if (compareKeys(row.key, beginning) !== 0) return;
        yield row;
      }
    },

    /** @param {Buffer[]} a @param {Buffer[]} b */
    isAfter: (a, b) => compareKeys(a, b) > 0,

    /** @param {Buffer[]} beginning of a key; empty: the whole partition @param {number} stamp */
    delete(beginning, stamp) {
      if (beginning.length === 0) {
        deletedAt = Math.max(deletedAt, stamp);
        statics.deletedAt = deletedAt;
      }
      for (const row of this.startingWith(beginning)) row.deletedAt = Math.max(row.deletedAt, stamp);
    },
  };
}

/** @typedef {ReturnType<typeof createPartition>} Partition */

/** @param {Row} row @param {Cell | null | undefined} cell @param {number} nowS epoch s @returns {cell is Cell} whether it is to be seen */
export const isAlive = ({ deletedAt }, cell, nowS) =>
  cell !== null &&
  cell !== undefined &&
  cell.value !== null &&
  cell.stamp > deletedAt &&
  cell.expiresAt > nowS;

/** @param {Row} row @param {number} nowS epoch s */
export function isThere(row, nowS) {
  if (isAlive(row, row.marker, nowS)) return true;
  for (const cell of row.cells.values()) if (isAlive(row, cell, nowS)) return true;
  return false;
}
