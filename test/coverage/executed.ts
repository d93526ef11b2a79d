import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** offsets in the source */
export type Range = [start: number, end: number];

/** executed ranges in order without overlaps, by file relative to the checkout */
type Coverage = Record<string, Range[]>;

type Script = {
  url: string;
  functions: { ranges: { startOffset: number; endOffset: number; count: number }[] }[];
};

/**
 * Measures what some work executes in some files, in all processes that it starts.
 * @param options the copy that it runs in, and the files to measure
 * @param work receives the environment for its processes
 */
export async function withCoverage<T>(
  { directory, files }: { directory: string; files: Set<string> },
  work: (env: Record<string, string>) => Promise<T>,
): Promise<{ result: T; coverage: Coverage }> {
  const records = await mkdtemp(join(tmpdir(), 'millrace-coverage-'));
  try {
    const result = await work({ NODE_V8_COVERAGE: records });
    const coverage: Coverage = {};
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

/** A killed process leaves an incomplete file. */
function scriptsIn(text: string): Script[] {
  try {
    return JSON.parse(text).result;
  } catch {
    return [];
  }
}

/** V8 reports nested blocks, and the innermost one decides whether code ran. */
export function executed({ functions }: Script): Range[] {
  const blocks = functions.flatMap(({ ranges }) => ranges);
  // An outer block comes before its inner blocks.
  blocks.sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  let ran: Range[] = [];
  for (const { startOffset, endOffset, count } of blocks) {
    ran = without(ran, startOffset, endOffset);
    if (count > 0) ran.push([startOffset, endOffset]);
  }
  return union(ran);
}

function without(ranges: Range[], from: number, to: number): Range[] {
  return ranges.flatMap(([start, end]) => {
    if (end <= from || start >= to) return [[start, end] as Range];
    const rest = [
      [start, from],
      [to, end],
    ] as Range[];
    return rest.filter(([a, b]) => a < b);
  });
}

function union(ranges: Range[]): Range[] {
  const joined: Range[] = [];
  for (const [start, end] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = joined.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}

export const covers = (ranges: Range[] | undefined, offset: number) =>
  Boolean(ranges?.some(([start, end]) => start <= offset && offset < end));
