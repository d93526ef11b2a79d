import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** @import { Profiler } from 'node:inspector' */

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const DRAWING = `${ROOT}docs/images/path.svg`;

/** Folders of the code that runs in a process of Millrace. */
const FOLDERS = ['api/', 'common/', 'schema/'];

const REPETITIONS = 20;

/** Share of the repetitions in which a function of the path runs. A busy machine delays some of them beyond the PUBACK. */
const SHARE = 3 / 4;

/** The pause between two messages, in ms. Live changes of one device wait 50 ms for each other, so each message is published alone. */
const PAUSE_MS = 120;

/** The broker through which messages arrive. @typedef {'embedded' | 'external'} Source */

/**
 * The files that docs/images/path.svg names.
 *
 * @param {Source} source files of the other source are left out
 * @returns {string[]} paths in the repository, in the order of the steps
 */
export function drawnFiles(source) {
  const texts = readFileSync(DRAWING, 'utf8').matchAll(/<text class="file(?: (\w+))?"[^>]*>([^<]*)</g);
  return [...texts]
    .filter(([, only]) => only === undefined || only === source)
    .map(([, , file = '']) => file);
}

/**
 * Lists the files that run for one message, by V8's precise coverage. A file counts if one of its functions runs in most repetitions
 * between sending and PUBACK. This leaves out the code of modules, which ran before, and timers, which run during some messages only.
 *
 * @param {() => Promise<unknown>} send sends one message, and settles at its PUBACK
 * @returns {Promise<Map<string, string[]>>} the names of the functions, by the path of their file in the repository, sorted
 */
export async function filesOnPath(send) {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    /** @type {Array<Set<string>>} */
    const rounds = [];
    for (let index = 0; index < REPETITIONS; index++) {
      await sleep(PAUSE_MS);
      // Taking the coverage resets its counters.
      await session.post('Profiler.takePreciseCoverage');
      await send();
      const { result } = await session.post('Profiler.takePreciseCoverage');
      rounds.push(new Set(result.flatMap(calledFunctions)));
    }
    const names = new Set(rounds.flatMap((round) => [...round]));
    const isOnPath = (/** @type {string} */ name) =>
      rounds.filter((round) => round.has(name)).length >= SHARE * REPETITIONS;
    return byFile([...names].filter(isOnPath).sort());
  } finally {
    session.disconnect();
  }
}

/** @param {Profiler.ScriptCoverage} script @returns {string[]} `file function` of each function that was called */
function calledFunctions({ url, functions }) {
  const file = url.startsWith('file://') ? fileURLToPath(url).replace(ROOT, '') : url.replace(ROOT, '');
  if (!FOLDERS.some((folder) => file.startsWith(folder))) return [];
  return functions
    .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
    .map(({ functionName, ranges }) => `${file} ${functionName || `at ${ranges[0]?.startOffset}`}`);
}

/** @param {string[]} called @returns {Map<string, string[]>} */
function byFile(called) {
  /** @type {Map<string, string[]>} */
  const files = new Map();
  for (const entry of called) {
    const space = entry.indexOf(' ');
    const file = entry.slice(0, space);
    files.set(file, [...(files.get(file) ?? []), entry.slice(space + 1)]);
  }
  return files;
}
