/**
 * Samples in order of time, together with those of the same instant.
 *
 * @typedef {object} Instants
 * @property {number[]} times epoch ms, strictly ascending
 * @property {(at: number) => number[]} samplesAt indexes of the samples of the instant at this place in `times`
 */

/** @import { Numbers } from '../../schema/packed/series.js' */

/**
 * @param {Numbers} times epoch ms, in any order
 * @returns {Instants}
 */
export function groupByInstant(times) {
  const order = Array.from(times, (_, index) => index);
  order.sort((a, b) => /** @type {number} */ (times[a]) - /** @type {number} */ (times[b]));
  /** @type {number[]} where in `order` each instant begins */
  const begins = [];
  /** @type {number[]} */
  const instants = [];
  for (let i = 0; i < order.length; i++) {
    const ts = /** @type {number} */ (times[/** @type {number} */ (order[i])]);
    if (ts === instants.at(-1)) continue;
    instants.push(ts);
    begins.push(i);
  }
  return {
    times: instants,
    samplesAt: (at) => order.slice(begins[at], begins[at + 1] ?? order.length),
  };
}
