import { betweenMarks } from '../bench/report/between-marks.js';

/**
 * @param {string} document
 * @param {Record<string, string>} parts by name
 * @returns {string} the document with each part between its marks
 * @throws {RangeError} when a mark is not there
 */
export function fillMarks(document, parts) {
  return Object.entries(parts).reduce(
    (page, [name, text]) =>
      betweenMarks(page, { begin: `<!-- size: ${name} -->`, end: `<!-- /size: ${name} -->` }, text),
    document,
  );
}
