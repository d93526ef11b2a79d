/**
 * The coefficients, none below 0, that come nearest to what was measured: the least sum of squared errors. With the few
 * unknowns that a cost has, every choice of those that are not 0 is tried.
 *
 * @param {number[][]} rows of each measurement, what each coefficient is multiplied with
 * @param {number[]} targets what was measured
 * @returns {number[]} the coefficients
 */
export function leastSquares(rows, targets) {
  const width = rows[0]?.length ?? 0;
  let best = { error: Number.POSITIVE_INFINITY, found: new Array(width).fill(0) };
  for (let chosen = 1; chosen < 2 ** width; chosen++) {
    const columns = Array.from({ length: width }, (_, at) => at).filter((at) => chosen & (1 << at));
    const solved = solve(...normalEquations(rows, targets, columns));
    if (!solved?.every((number) => number >= 0)) continue;
    const found = new Array(width).fill(0);
    for (const [at, column] of columns.entries()) found[column] = solved[at];
    const error = errorOf(rows, targets, found);
    if (error < best.error) best = { error, found };
  }
  return best.found;
}

/** @param {number[][]} rows @param {number[]} targets @param {number[]} found */
const errorOf = (rows, targets, found) =>
  rows.reduce((sum, row, at) => sum + (dot(row, found) - Number(targets[at])) ** 2, 0);

/** @param {number[]} a @param {number[]} b */
const dot = (a, b) => a.reduce((sum, number, at) => sum + number * Number(b[at]), 0);

/**
 * @param {number[][]} rows @param {number[]} targets @param {number[]} columns
 * @returns {[number[][], number[]]}
 */
function normalEquations(rows, targets, columns) {
  const column = (/** @type {number} */ at) => rows.map((row) => Number(row[at]));
  return [
    columns.map((a) => columns.map((b) => dot(column(a), column(b)))),
    columns.map((a) => dot(column(a), targets)),
  ];
}

/**
 * Gauss, with the largest of a column in its turn.
 *
 * @param {number[][]} matrix @param {number[]} right
 * @returns {number[] | null} null where there is no one solution
 */
function solve(matrix, right) {
  const lines = matrix.map((line, at) => [...line, Number(right[at])]);
  const size = lines.length;
  for (let at = 0; at < size; at++) {
    lines.splice(
      at,
      size - at,
      ...lines.slice(at).sort((a, b) => Math.abs(Number(b[at])) - Math.abs(Number(a[at]))),
    );
    const pivot = /** @type {number[]} */ (lines[at]);
    if (Math.abs(Number(pivot[at])) < 1e-12) return null;
    for (const [other, line] of lines.entries()) {
      if (other === at) continue;
      const times = Number(line[at]) / Number(pivot[at]);
      for (let column = at; column <= size; column++)
        line[column] = Number(line[column]) - times * Number(pivot[column]);
    }
  }
  return lines.map((line, at) => Number(line[size]) / Number(line[at]));
}
