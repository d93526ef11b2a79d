import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { MillraceError } from '../../common/errors.js';
import { someAtOnce } from '../../common/some-at-once.js';
import { covers, withCoverage } from './coverage.js';
import { FAR_TESTS } from './modules.js';
import { runTests } from './runner/child.js';
import { hash } from './test-files.js';

/** @import { Coverage } from './coverage.js' */
/** @import { Mutant } from './mutants.js' */
/** @import { Pool } from './pool.js' */
/** @import { ImportGraph } from './test-files.js' */

/** Limit for the time between two finished tests without a mistake, in ms. */
const LIMIT_MS = 120_000;

/** @typedef {{ key: string, ms: number, coverage: Coverage }} TestFile */

/**
 * Runs the unit test files that reach a file with a wanted mutant without a mistake, and measures their time and what they execute.
 * Results of an earlier run are reused if neither the test nor its imports have changed.
 *
 * @param {object} options
 * @param {string} options.cache file with the results of earlier runs
 * @param {string[]} options.sources the files with the mutants of all modules
 * @param {string[]} options.wanted those of `sources` whose mutants are tried
 * @param {ImportGraph} options.graph
 * @param {Pool} options.pool
 * @param {(text: string) => void} options.onStatus
 * @param {AbortSignal} [options.signal]
 * @returns {Promise<Map<string, TestFile>>}
 * @throws {MillraceError} `usage` when a test fails without any mistake
 */
export async function measureTests({ cache, sources, wanted, graph, pool, onStatus, signal }) {
  const files = new Set(sources);
  /** @type {Record<string, TestFile>} */
  const known = JSON.parse(await readFile(cache, 'utf8').catch(() => '{}'));
  /** @type {Map<string, TestFile>} */
  const tests = new Map();
  /** @type {string[]} */
  const failed = [];
  let measured = 0;
  const tried = new Set(wanted);
  const relevant = graph.unitTests.filter((test) =>
    [...graph.reachedBy(test).keys()].some((file) => tried.has(file) && !isFar(test, file)),
  );
  await someAtOnce(pool.size, relevant, async (test) => {
    onStatus(`Measuring the tests: ${++measured} of ${relevant.length}`);
    const closure = [...graph.reachedBy(test).keys()].sort();
    const key = hash([...(await Promise.all(closure.map((file) => readFile(file, 'utf8')))), ...files]);
    const before = known[test];
    if (before?.key === key) return tests.set(test, before);
    const { result, coverage } = await pool.use(({ directory }) =>
      withCoverage({ directory, files, wholeFunctions: true }, (env) =>
        runTests([test], { directory, limitMs: () => LIMIT_MS, env, signal }),
      ),
    );
    if (result.end !== 'passed') return failed.push(`${test}: ${result.title}: ${result.error}`);
    return tests.set(test, { key, ms: result.took[test] ?? 0, coverage });
  });
  if (failed.length > 0)
    throw new MillraceError('usage', `These tests fail without any mistake:\n${failed.join('\n')}`);
  await mkdir(dirname(cache), { recursive: true });
  await writeFile(cache, JSON.stringify({ ...known, ...Object.fromEntries(tests) }));
  return tests;
}

/**
 * Lists the test files that execute a mutant: first those that noticed the most mistakes in its file, then the nearest, then the fastest.
 *
 * @param {Mutant} mutant
 * @param {object} known
 * @param {Map<string, TestFile>} known.tests
 * @param {ImportGraph} known.graph
 * @param {Map<string, number>} known.kills number of killed mutants of the same file, by test file
 * @returns {string[]}
 */
export function testsFor({ file, start, end }, { tests, graph, kills }) {
  const rank = (/** @type {string} */ test) => [
    -(kills.get(test) ?? 0),
    graph.reachedBy(test).get(file) ?? Number.MAX_SAFE_INTEGER,
    tests.get(test)?.ms ?? 0,
  ];
  return [...tests]
    .filter(
      ([test, { coverage }]) =>
        !isFar(test, file) && (covers(coverage[file], start) || covers(coverage[file], end - 1)),
    )
    .map(([test]) => ({ test, order: rank(test) }))
    .sort((a, b) => a.order.map((value, i) => value - Number(b.order[i])).find((order) => order !== 0) ?? 0)
    .map(({ test }) => test);
}

/** @param {string} test @param {string} file */
const isFar = (test, file) => Object.hasOwn(FAR_TESTS, test) && !FAR_TESTS[test]?.includes(file);
