import { printable } from '../../common/printable.js';

/** Characters of a topic or a device that one line shows. */
const MOST_SHOWN = 80;

/** @param {string} text @returns {string} for one line */
export const shortened = (text) =>
  printable(text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text);

/** @param {Record<string, number>} codes @returns {string} `2 not_numeric, 1 too_old` */
export const codesText = (codes) =>
  Object.entries(codes)
    .sort(([, a], [, b]) => b - a)
    .map(([code, count]) => `${count} ${code}`)
    .join(', ');

export const NO_SUCH_LETTER = 'there is no such dead letter, or none any more';
