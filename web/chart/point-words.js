import { formatDate, formatDateTime, formatNumber, formatTimeMs, formatUnit } from '../format.js';

/** @import { Shape } from './shape.js' */

/**
 * @typedef {object} PointWords
 * @property {string} when
 * @property {string} value of a bin its average
 * @property {string} band from lowest to highest of a bin; empty: it is a sample
 */

/**
 * What a point of a chart says.
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

/** @param {PointWords | null} words @returns {string} the same, to be said */
export const inOneLine = (words) =>
  words === null ? '' : [words.value, words.band, words.when].filter(Boolean).join(', ');
