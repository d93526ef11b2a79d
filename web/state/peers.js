import { levelOf } from './baseline.js';

/**
 * What the sensors of one type measure at this moment: where there is nothing yet to compare a sensor's value with but the others'.
 *
 * @typedef {{ middle: number, spread: number }} Kin
 */

/** Fewer of a type say nothing of one of them. */
const LEAST_KIN = 8;
/** Median absolute deviations in a standard deviation of a normal distribution. */
const MAD_TO_SPREAD = 1.4826;
/** Kin differ for many reasons: one is never called far off for it. */
const MOST_LEVEL = 3;

/**
 * Medians, so that a few wild ones do not move what is usual.
 *
 * @param {Iterable<{ type: string | null, value: number }>} sensors NaN: nothing measured yet
 * @returns {Map<string | null, Kin>} by type; types of few sensors, or of no spread, are left out
 */
export function measureKin(sensors) {
  /** @type {Map<string | null, number[]>} */
  const byType = new Map();
  for (const { type, value } of sensors) {
    if (Number.isNaN(value)) continue;
    const values = byType.get(type);
    if (values) values.push(value);
    else byType.set(type, [value]);
  }
  /** @type {Map<string | null, Kin>} */
  const kin = new Map();
  for (const [type, values] of byType) {
    if (type === null || values.length < LEAST_KIN) continue;
    const middle = median(values);
    const spread = MAD_TO_SPREAD * median(values.map((value) => Math.abs(value - middle)));
    if (spread > 0) kin.set(type, { middle, spread });
  }
  return kin;
}

/** @param {Kin} kin @param {number} value @returns {number} steps of colour below or above the usual */
export function kinLevel({ middle, spread }, value) {
  return Math.max(-MOST_LEVEL, Math.min(MOST_LEVEL, levelOf((value - middle) / spread)));
}

/** @param {number[]} values at least one @returns {number} */
function median(values) {
  const sorted = Float64Array.from(values).sort();
  const half = sorted.length >> 1;
  const upper = Number(sorted[half]);
  return sorted.length % 2 === 1 ? upper : (Number(sorted[half - 1]) + upper) / 2;
}
