/** @typedef {{ x: number, y: number }} Point */

/** Neighbours that say how far points are apart usually. */
const AROUND = 4;
/** So many times as far is a hole. */
const MANY = 4;

/**
 * Where nothing was heard no line is drawn: points in runs, each of them about as close as its neighbours are.
 *
 * @param {Point[]} points by x
 * @param {number} least what is no further apart is never a hole
 * @returns {Point[][]}
 */
export function runsOf(points, least) {
  const steps = points.slice(1).map(({ x }, i) => x - (points[i]?.x ?? 0));
  /** @type {Point[][]} */
  const runs = [];
  let first = 0;
  for (const [i, step] of steps.entries()) {
    if (step <= least || step <= MANY * usualAt(steps, i)) continue;
    runs.push(points.slice(first, i + 1));
    first = i + 1;
  }
  return [...runs, points.slice(first)];
}

/** Values may come further apart than before: the wider side counts. @param {number[]} steps @param {number} i */
const usualAt = (steps, i) =>
  Math.max(middleOf(steps.slice(Math.max(0, i - AROUND), i)), middleOf(steps.slice(i + 1, i + 1 + AROUND)));

/** @param {number[]} steps @returns {number} 0 where there is none */
const middleOf = (steps) => steps.toSorted((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 0;
