import { LineParser } from '../../../api/ingest/decode/line-parser.js';

/** @import { Point } from './line-reference.js' */

/** A point whose fields are those with numbers, and the number of its texts. @typedef {Omit<Point, 'fields'> & { fields: [string, number][], texts: number }} NumericPoint */

/** Reads line protocol with the parser of Millrace. @param {string} text */
export function readLines(text) {
  const parser = new LineParser(text, {
    seriesOf: (measurement, tags) => ({ measurement, tags: [...tags] }),
    fieldOf: (_, key) => key,
  });
  /** @type {NumericPoint[]} */
  const points = [];
  /** @type {Array<[line: number, rule: string]>} */
  const bad = [];
  while (parser.next()) {
    const { line, error, series, count, texts, time } = parser;
    if (error !== null || !series) bad.push([line, String(error)]);
    else {
      const fields = Array.from({ length: count }, (_, at) => [parser.fields[at], parser.values[at]]);
      points.push({ line, ...series, fields: /** @type {any} */ (fields), texts, time });
    }
  }
  return { points, bad };
}
