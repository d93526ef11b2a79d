import { readFile } from 'node:fs/promises';
import { loadOf } from '../bench/load/shapes.js';

/** @import { Figures } from '../bench/documents.js' */

/** @typedef {'ingest' | 'database' | 'broker'} Process */

/** The cost of a message in CPU µs: for itself, for each of its sensors, and for each sample. @typedef {{ message: number, series: number, sample: number }} Cost */

/** Sensors of a message, and samples of each. @typedef {{ sensors: number, samples: number }} Shape */

/**
 * Solves the cost of a message, of a sensor in it and of a sample from three loads of the bench: 1x1, 1x60 and 50x1. Each
 * load is one linear equation in the three unknowns. No part is below 0. The other loads show the error.
 *
 * @param {Figures['throughput']} throughput
 * @param {Process} process
 * @returns {Cost}
 */
export function costOf(throughput, process) {
  /** @param {string} load @returns {number} CPU µs of one message */
  const measured = (load) => {
    const { sensors, samples } = loadOf(load);
    return Number(throughput[load]?.packed[process]) * sensors * samples;
  };
  const single = measured('1x1');
  const sample = Math.max(0, (measured('1x60') - single) / 59);
  const series = Math.max(0, (measured('50x1') - single) / 49 - sample);
  return { message: Math.max(0, single - series - sample), series, sample };
}

/** @param {Cost} cost @param {Shape} shape @returns {number} CPU µs of one message */
export const messageCost = ({ message, series, sample }, { sensors, samples }) =>
  message + series * sensors + sample * sensors * samples;

/**
 * @param {Figures['throughput']} throughput
 * @param {Process} process
 * @returns {Record<string, number>} relative error of the calculation by load: 0.1 means a tenth too much
 */
export function errorsOf(throughput, process) {
  const cost = costOf(throughput, process);
  return Object.fromEntries(
    Object.entries(throughput).map(([load, { packed }]) => {
      const { sensors, samples } = loadOf(load);
      const calculated = messageCost(cost, { sensors, samples }) / (sensors * samples);
      return [load, calculated / packed[process] - 1];
    }),
  );
}

const FIGURES = new URL('../bench/figures.json', import.meta.url);

/** @returns {Promise<Figures>} the figures of the bench, as `npm run bench:readme` wrote them */
export async function readFigures() {
  return JSON.parse(await readFile(FIGURES, 'utf8'));
}
