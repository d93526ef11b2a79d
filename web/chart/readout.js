import { formatDate, formatDateTime, formatNumber, formatTimeMs, formatUnit } from '../format.js';
import { middleOf } from './columns.js';
import { firstAtOrAfter } from './shape.js';

/** @import { Shape } from './shape.js' */

/**
 * @typedef {object} PointWords
 * @property {string} when
 * @property {string} value of a bin its average
 * @property {string} band from lowest to highest of a bin; empty: it is a sample
 */

/**
 * The text of a point of a chart.
 *
 * @param {Shape} shape
 * @param {number} place
 * @param {string | null} unit
 * @param {'local' | 'utc'} zone
 * @returns {PointWords | null} null: there is none any more
 */
export function pointWords(shape, place, unit, zone) {
  const ts = shape.ts[place];
  if (ts === undefined) return null;
  const value = `${formatNumber(shape.avg[place])} ${formatUnit(unit)}`.trim();
  if (shape.stepMs === null)
    return { when: `${formatDate(ts, zone)} ${formatTimeMs(ts, zone)}`, value, band: '' };
  const band = `${formatNumber(shape.min[place])} to ${formatNumber(shape.max[place])}`;
  return { when: `from ${formatDateTime(ts, zone)}`, value, band };
}

/** @param {PointWords | null} words @returns {string} the same as one line, for screen readers */
export const inOneLine = (words) =>
  words === null ? '' : [words.value, words.band, words.when].filter(Boolean).join(', ');

/**
 * The values of a chart at an instant.
 *
 * @typedef {{ avg: number | null, min: number, max: number, isRaw: boolean }} Reading
 */

/**
 * @param {Shape} shape
 * @param {number} ts epoch ms
 * @param {number} reachMs how far from it a sample, or the middle of a bin, may lie
 * @returns {Reading | null} of the nearest; null: nothing is near
 */
export function readingAt(shape, ts, reachMs) {
  const right = firstAtOrAfter(shape.ts, ts);
  const near = [right - 1, right].filter((at) => shape.ts[at] !== undefined);
  const distance = (/** @type {number} */ at) => Math.abs(middleOf(shape, at) - ts);
  const [at] = near.sort((a, b) => distance(a) - distance(b));
  if (at === undefined || distance(at) > Math.max(reachMs, (shape.stepMs ?? 0) / 2)) return null;
  return {
    avg: shape.avg[at] ?? null,
    min: shape.min[at] ?? 0,
    max: shape.max[at] ?? 0,
    isRaw: shape.stepMs === null,
  };
}

/**
 * @typedef {object} Statistics
 * @property {number} count samples
 * @property {number | null} min null: no samples
 * @property {number | null} max
 * @property {number | null} avg null also where it is beyond what a number can hold
 * @property {number | null} minAt epoch ms of the first sample, or bin, that is as low
 * @property {number | null} maxAt
 */

/**
 * Statistics of all samples of a shape, from bins or from the samples themselves.
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
