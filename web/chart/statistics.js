/**
 * @typedef {object} Statistics
 * @property {number} count samples
 * @property {number | null} min null: no samples
 * @property {number | null} max
 * @property {number | null} avg null also where it is beyond what a number can hold
 * @property {number | null} minAt epoch ms of the first sample, or bin, that is as low
 * @property {number | null} maxAt
 */

/** @import { Shape } from './shape.js' */

/**
 * Of all samples that a shape stands for, be it drawn from bins or from the samples themselves.
 *
 * @param {Shape} shape
 * @returns {Statistics}
 */
export function statisticsOf({ ts, min, avg, max, count }) {
  let [samples, lowest, highest, mean] = [0, 0, 0, 0];
  for (const at of ts.keys()) {
    const here = count[at] ?? 0;
    samples += here;
    if ((min[at] ?? 0) < (min[lowest] ?? 0)) lowest = at;
    if ((max[at] ?? 0) > (max[highest] ?? 0)) highest = at;
    // A running mean keeps its precision where a sum of many would lose it.
    mean += (((avg[at] ?? Number.NaN) - mean) * here) / samples;
  }
  return {
    count: samples,
    min: min[lowest] ?? null,
    max: max[highest] ?? null,
    avg: samples > 0 && Number.isFinite(mean) ? mean : null,
    minAt: ts[lowest] ?? null,
    maxAt: ts[highest] ?? null,
  };
}
