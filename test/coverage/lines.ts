import { parse } from '@babel/parser';
import { covers } from './executed.js';

/** @import { Range } from './executed.js' */

/**
 * @param {string} source of an ES module
 * @param {Range[] | undefined} ranges what ran of it; none: it was never loaded
 * @returns {{ lines: number, executed: number }} lines with code, and those of them whose first character was executed
 */
export function linesOf(source, ranges) {
  const { tokens } = parse(source, { sourceType: 'module', tokens: true, plugins: ['typescript'] });
  const begun = new Set();
  const counts = { lines: 0, executed: 0 };
  for (const { type, start, loc } of tokens ?? []) {
    // A comment is a token as well; the end of the file has no text.
    if (typeof type === 'string' || type.label === 'eof' || begun.has(loc.start.line)) continue;
    begun.add(loc.start.line);
    counts.lines++;
    if (covers(ranges, start)) counts.executed++;
  }
  return counts;
}
