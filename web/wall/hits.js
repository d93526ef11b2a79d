/** @import { Layout } from './layout.js' */

const NONE = -1;

/**
 * Finds the cell at a point. Buckets of the size of a cell keep the search short.
 *
 * @param {Layout} layout
 */
export function createHits({ format, x, y, width, height }) {
  const stepX = format.width + format.gap;
  const stepY = format.height + format.gap;
  const columns = Math.ceil(width / stepX) + 1;
  const rows = Math.ceil(height / stepY) + 1;
  const first = new Int32Array(columns * rows).fill(NONE);
  const next = new Int32Array(x.length).fill(NONE);
  for (let cell = 0; cell < x.length; cell += 1) {
    const bucket = Math.floor(Number(y[cell]) / stepY) * columns + Math.floor(Number(x[cell]) / stepX);
    next[cell] = first[bucket] ?? NONE;
    first[bucket] = cell;
  }

  /** @param {number} column @param {number} row @param {number} left @param {number} top */
  function inBucket(column, row, left, top) {
    if (column < 0 || row < 0 || column >= columns) return NONE;
    let cell = first[row * columns + column] ?? NONE;
    while (cell !== NONE && !covers(cell, left, top)) cell = next[cell] ?? NONE;
    return cell;
  }

  /** A gap belongs to the cell before it: no pointer falls between two. @param {number} cell @param {number} left @param {number} top */
  const covers = (cell, left, top) =>
    left >= Number(x[cell]) &&
    left < Number(x[cell]) + stepX &&
    top >= Number(y[cell]) &&
    top < Number(y[cell]) + stepY;

  /** @param {number} left px @param {number} top px @returns {number} the cell there; -1: none */
  function at(left, top) {
    const column = Math.floor(left / stepX);
    const row = Math.floor(top / stepY);
    for (const [dx, dy] of AROUND) {
      const cell = inBucket(column + dx, row + dy, left, top);
      if (cell !== NONE) return cell;
    }
    return NONE;
  }

  return {
    at,

    /**
     * @param {number} cell
     * @param {number} dx -1 to the left, 1 to the right
     * @param {number} dy -1 up, 1 down
     * @returns {number} the next cell in that direction; the same one at the edge
     */
    neighbor(cell, dx, dy) {
      let left = Number(x[cell]) + format.width / 2;
      let top = Number(y[cell]) + format.height / 2;
      while (left >= 0 && left <= width && top >= 0 && top <= height) {
        left += (dx * stepX) / 3;
        top += (dy * stepY) / 3;
        const found = at(left, top);
        if (found !== NONE && found !== cell) return found;
      }
      return cell;
    },
  };
}

/** A cell reaches from the bucket of its corner into those to the right and below. */
const AROUND = /** @type {const} */ ([
  [0, 0],
  [-1, 0],
  [0, -1],
  [-1, -1],
]);

/** @typedef {ReturnType<typeof createHits>} Hits */
