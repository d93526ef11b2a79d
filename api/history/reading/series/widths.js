import { DAY_MS, HOUR_MS } from '../../../../schema/rules.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const MONTH = 30 * DAY_MS;

/** Widths of bins, in ms; beyond, whole multiples of the last. */
export const WIDTHS = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 7, 30].map((days) => days * DAY_MS),
];

/**
 * The smallest width that gives few enough bins, which begin at whole multiples of it.
 *
 * @param {import('../chunks.js').Range} range not empty
 * @param {number} points bins, at most
 * @returns {number} ms
 */
export function widthFor(range, points) {
  const width = WIDTHS.find((one) => binsOf(range, one) <= points);
  if (width !== undefined) return width;
  let months = 2;
  while (binsOf(range, months * MONTH) > points) months++;
  return months * MONTH;
}

/** @param {import('../chunks.js').Range} range @param {number} width ms @returns {number} bins that it touches */
export const binsOf = ({ from, to }, width) => Math.ceil(to / width) - Math.floor(from / width);
