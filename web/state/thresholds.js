/**
 * Lines that a reader draws: what is below `low` or above `high` is beyond.
 *
 * @typedef {{ low: number | null, high: number | null }} Thresholds
 */

/** @import { Shape } from '../chart/shape.js' */

/** @type {Thresholds} */
export const NO_THRESHOLDS = { low: null, high: null };

/** @param {string | null} text as people write numbers, `-4,5` too @returns {number | null} null: none */
export function readNumber(text) {
  const plain = (text ?? '')
    .trim()
    .replace('\u2212', '-')
    .replace(/^([^.,]*),([^.,]*)$/, '$1.$2');
  const number = plain === '' ? Number.NaN : Number(plain);
  return Number.isFinite(number) ? number : null;
}

/** @param {URLSearchParams} query @returns {Thresholds} */
export const readThresholds = (query) => ({
  low: readNumber(query.get('low')),
  high: readNumber(query.get('high')),
});

/** @param {Thresholds} thresholds @returns {Record<'low' | 'high', string | null>} what an address says of them */
export const writeThresholds = ({ low, high }) => ({
  low: low?.toString() ?? null,
  high: high?.toString() ?? null,
});

/**
 * @param {{ low: string, high: string }} typed
 * @returns {Thresholds | string} what is wrong with it
 */
export function parseThresholds({ low, high }) {
  const read = { low: readNumber(low), high: readNumber(high) };
  if (low.trim() && read.low === null) return 'Low is not a number.';
  if (high.trim() && read.high === null) return 'High is not a number.';
  if (read.low !== null && read.high !== null && read.low >= read.high) return 'Low has to be below high.';
  return read;
}

/**
 * On which side of the lines a value, or what lies between two of them, is beyond.
 *
 * @param {number} min
 * @param {number} max
 * @param {Thresholds} thresholds
 * @returns {'low' | 'high' | 'both' | null}
 */
export function sideOf(min, max, { low, high }) {
  const isLow = low !== null && min < low;
  const isHigh = high !== null && max > high;
  if (isLow && isHigh) return 'both';
  return isLow ? 'low' : isHigh ? 'high' : null;
}

/** A line further away than so many times the spread of the values would leave them no room. */
const FARTHEST = 3;

/**
 * @param {Shape} shape
 * @param {Thresholds} thresholds
 * @returns {{ low: number, high: number }} samples, or bins with such a sample, that are beyond
 */
export function countBeyond({ min, max }, { low, high }) {
  return {
    low: low === null ? 0 : min.filter((value) => value < low).length,
    high: high === null ? 0 : max.filter((value) => value > high).length,
  };
}

/**
 * The scale of the values, with the lines that lie near enough to be shown.
 *
 * @param {number} min
 * @param {number} max
 * @param {Thresholds} thresholds
 * @returns {[min: number, max: number]}
 */
export function withThresholds(min, max, { low, high }) {
  const spread = max - min || Math.max(Math.abs(max), 1);
  const near = [low, high].filter(
    (line) => line !== null && line > min - FARTHEST * spread && line < max + FARTHEST * spread,
  );
  const lines = /** @type {number[]} */ (near);
  return [Math.min(min, ...lines), Math.max(max, ...lines)];
}
