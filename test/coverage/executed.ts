import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * @typedef {[start: number, end: number]} Range offsets in the source
 * @typedef {Record<string, Range[]>} Coverage executed ranges in order without overlaps, by file relative to the checkout
 * @typedef {{ url: string, functions: { ranges: { startOffset: number, endOffset: number, count: number }[] }[] }} Script
 */

/**
 * Measures what some work executes in some files, in all processes that it starts.
 *
 * @template T
 * @param {{ directory: string, files: Set<string> }} options the copy that it runs in, and the files to measure
 * @param {(env: Record<string, string>) => Promise<T>} work receives the environment for its processes
 * @returns {Promise<{ result: T, coverage: Coverage }>}
 */
export async function withCoverage({ directory, files }, work) {
  const records = await mkdtemp(join(tmpdir(), 'millrace-coverage-'));
  try {
    const result = await work({ NODE_V8_COVERAGE: records });
    /** @type {Coverage} */
    const coverage = {};
    const base = `${pathToFileURL(directory).href}/`;
    for (const name of await readdir(records)) {
      for (const script of scriptsIn(await readFile(join(records, name), 'utf8'))) {
        const file = script.url.startsWith(base) ? script.url.slice(base.length) : '';
        if (files.has(file)) coverage[file] = union([...(coverage[file] ?? []), ...executed(script)]);
      }
    }
    return { result, coverage };
  } finally {
    await rm(records, { recursive: true, force: true });
  }
}

/** A killed process leaves an incomplete file. @param {string} text @returns {Script[]} */
function scriptsIn(text) {
  try {
    return JSON.parse(text).result;
  } catch {
    return [];
  }
}

/** V8 reports nested blocks, and the innermost one decides whether code ran. @param {Script} script @returns {Range[]} */
export function executed({ functions }) {
  const blocks = functions.flatMap(({ ranges }) => ranges);
  // An outer block comes before its inner blocks.
  blocks.sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  /** @type {Range[]} */
  let ran = [];
  for (const { startOffset, endOffset, count } of blocks) {
    ran = without(ran, startOffset, endOffset);
    if (count > 0) ran.push([startOffset, endOffset]);
  }
  return union(ran);
}

/** @param {Range[]} ranges @param {number} from @param {number} to @returns {Range[]} */
function without(ranges, from, to) {
  return ranges.flatMap(([start, end]) => {
    if (end <= from || start >= to) return [/** @type {Range} */ ([start, end])];
    const rest = /** @type {Range[]} */ ([
      [start, from],
      [to, end],
    ]);
    return rest.filter(([a, b]) => a < b);
  });
}

/** @param {Range[]} ranges @returns {Range[]} */
function union(ranges) {
  /** @type {Range[]} */
  const joined = [];
  for (const [start, end] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = joined.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}

/** @param {Range[] | undefined} ranges @param {number} offset */
export const covers = (ranges, offset) =>
  Boolean(ranges?.some(([start, end]) => start <= offset && offset < end));
