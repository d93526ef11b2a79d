import { readFile } from 'node:fs/promises';

/** @import { Figures } from '../bench/documents.js' */

/** @typedef {'packed' | 'rows'} Way */
/** @typedef {'ingest' | 'database' | 'broker'} Process */

/** The cost of a message in CPU µs: for itself, for each of its sensors, and for each sample. @typedef {{ message: number, series: number, sample: number }} Cost */

/** Sensors of a message, and samples of each. @typedef {{ sensors: number, samples: number }} Shape */

/**
 * The cost of a message, of a sensor in it and of a sample, fitted to the five loads of the bench, so that it can be calculated for any
 * other load. None of the three is below 0. They minimize the relative error.
 *
 * @param {Figures['throughput']} throughput
 * @param {Way} way
 * @param {Process} process
 * @returns {Cost}
 */
export function costOf(throughput, way, process) {
  const loads = Object.entries(throughput).map(([name, ways]) => {
    const shape = shapeOf(name);
    return { ...partsOf(shape), measured: ways[way][process] * samplesOf(shape) };
  });
  const [message = 0, series = 0, sample = 0] = leastSquares(
    loads.map((load) => [1 / load.measured, load.series / load.measured, load.sample / load.measured]),
    loads.map(() => 1),
  );
  return { message, series, sample };
}

/** @param {Cost} cost @param {Shape} shape @returns {number} CPU µs of one message */
export function messageCost(cost, shape) {
  const { series, sample } = partsOf(shape);
  return cost.message + cost.series * series + cost.sample * sample;
}

/**
 * How far the three numbers are off each measurement, as a share of it.
 *
 * @param {Figures['throughput']} throughput
 * @param {Way} way
 * @param {Process} process
 * @returns {Record<string, number>} by load: 0.1: a tenth too much is calculated
 */
export function missesOf(throughput, way, process) {
  const cost = costOf(throughput, way, process);
  return Object.fromEntries(
    Object.entries(throughput).map(([name, ways]) => {
      const shape = shapeOf(name);
      return [name, messageCost(cost, shape) / samplesOf(shape) / ways[way][process] - 1];
    }),
  );
}

/** @param {string} name `4x10` @returns {Shape} */
const shapeOf = (name) => {
  const [sensors = 1, samples = 1] = name.split('x').map(Number);
  return { sensors, samples };
};

/** @param {Shape} shape */
const samplesOf = ({ sensors, samples }) => sensors * samples;

/** @param {Shape} shape */
const partsOf = (shape) => ({ series: shape.sensors, sample: samplesOf(shape) });

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

const FIGURES = new URL('../bench/figures.json', import.meta.url);

/** @returns {Promise<Figures>} what the bench measured, as npm run bench:readme wrote it */
export async function readFigures() {
  return JSON.parse(await readFile(FIGURES, 'utf8'));
}
