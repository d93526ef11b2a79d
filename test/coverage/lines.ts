import { parse } from '@babel/parser';
import { covers, type Range } from './executed.ts';

/**
 * @param source of an ES module
 * @param ranges what ran of it; none: it was never loaded
 * @returns lines with code, and those of them whose first character was executed
 */
export function linesOf(source: string, ranges: Range[] | undefined): { lines: number; executed: number } {
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
