import { readFileSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const DRAWING = `${ROOT}docs/images/path.svg`;

/** Folders of the code that runs in a process of Millrace. */
const FOLDERS = ['api/', 'common/', 'schema/'];

const REPETITIONS = 20;

/** Share of the repetitions in which a function of the path runs. A busy machine delays some of them beyond the PUBACK. */
const SHARE = 3 / 4;

/** The pause between two messages, in ms. Live changes of one device wait 50 ms for each other, so each message is published alone. */
const PAUSE_MS = 120;

/** The broker through which messages arrive. */
type Source = 'embedded' | 'external';

/**
 * The files that docs/images/path.svg names.
 * @param source files of the other source are left out
 * @returns paths in the repository, in the order of the steps
 */
export function drawnFiles(source: Source): string[] {
  const texts = readFileSync(DRAWING, 'utf8').matchAll(/<text class="file(?: (\w+))?"[^>]*>([^<]*)</g);
  return [...texts]
    .filter(([, only]) => only === undefined || only === source)
    .map(([, , file = '']) => file);
}

/**
 * Lists the files that run for one message, by V8's precise coverage. A file counts if one of its functions runs in most repetitions
 * between sending and PUBACK. This leaves out the code of modules, which ran before, and timers, which run during some messages only.
 * @param send sends one message, and settles at its PUBACK
 * @returns the names of the functions, by the path of their file in the repository, sorted
 */
export async function filesOnPath(send: () => Promise<unknown>): Promise<Map<string, string[]>> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    const rounds: Array<Set<string>> = [];
    for (let index = 0; index < REPETITIONS; index++) {
      await sleep(PAUSE_MS);
      // Taking the coverage resets its counters.
      await session.post('Profiler.takePreciseCoverage');
      await send();
      const { result } = await session.post('Profiler.takePreciseCoverage');
      rounds.push(new Set(result.flatMap(calledFunctions)));
    }
    const names = new Set(rounds.flatMap((round) => [...round]));
    const isOnPath = (name: string) =>
      rounds.filter((round) => round.has(name)).length >= SHARE * REPETITIONS;
    return byFile([...names].filter(isOnPath).sort());
  } finally {
    session.disconnect();
  }
}

/** @returns `file function` of each function that was called */
function calledFunctions({ url, functions }: Profiler.ScriptCoverage): string[] {
  const file = url.startsWith('file://') ? fileURLToPath(url).replace(ROOT, '') : url.replace(ROOT, '');
  if (!FOLDERS.some((folder) => file.startsWith(folder))) return [];
  return functions
    .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
    .map(({ functionName, ranges }) => `${file} ${functionName || `at ${ranges[0]?.startOffset}`}`);
}

function byFile(called: string[]): Map<string, string[]> {
  const files: Map<string, string[]> = new Map();
  for (const entry of called) {
    const space = entry.indexOf(' ');
    const file = entry.slice(0, space);
    files.set(file, [...(files.get(file) ?? []), entry.slice(space + 1)]);
  }
  return files;
}
