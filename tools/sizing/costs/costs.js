import { leastSquares } from './least-squares.js';

/** @import { Figures } from '../../bench/report/figures.js' */

/** @typedef {'packed' | 'rows'} Way */
/** @typedef {'ingest' | 'database' | 'broker'} Process */

/** What a message costs, in CPU µs: for itself, for each of its sensors, and for each sample. @typedef {{ message: number, series: number, sample: number }} Cost */

/** Sensors of a message, and samples of each. @typedef {{ sensors: number, samples: number }} Shape */

/**
 * What the bench measured of five loads, told as the cost of a message, of a sensor in it and of a sample, so that it can be
 * reckoned for any other: the three numbers, none below 0, that miss the five measurements least, each by its share.
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
 * @returns {Record<string, number>} by load: 0.1 says that a tenth too much is reckoned
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
