import { readFileSync } from 'node:fs';
import { someAtOnce } from '../../common/some-at-once.js';
import { testsFor } from './baseline.js';
import { applied } from './mutants.js';
import { Results } from './results.js';
import { runTests } from './runner/child.js';
import { hash, memoize } from './test-files.js';

/** @import { TestFile } from './baseline.js' */
/** @import { Mutant } from './mutants.js' */
/** @import { Pool } from './pool.js' */
/** @import { Verdict } from './results.js' */
/** @import { ImportGraph } from './test-files.js' */

/** Limit for the time between two finished tests, in addition to ten times the time of the whole file without a mistake, in ms. */
const LIMIT_MS = 5_000;

/**
 * Tries mutants on the unit tests that execute them.
 *
 * @param {Mutant[]} mutants
 * @param {object} options
 * @param {Map<string, TestFile>} options.tests
 * @param {ImportGraph} options.graph
 * @param {Pool} options.pool
 * @param {Results} options.results
 * @param {(mutant: Mutant, verdict: Verdict) => void} options.onVerdict
 * @param {AbortSignal} [options.signal]
 */
export async function tryUnitTests(mutants, { tests, graph, pool, results, onVerdict, signal }) {
  const sourceOf = memoize((file) => readFileSync(file, 'utf8'));
  /** @type {Map<string, Map<string, number>>} */
  const killsOf = new Map();
  const limitMs = (/** @type {string} */ test) => LIMIT_MS + 10 * (tests.get(test)?.ms ?? 0);

  await someAtOnce(pool.size, mutants, async (mutant) => {
    const source = sourceOf(mutant.file);
    const kills = killsOf.get(mutant.file) ?? new Map();
    killsOf.set(mutant.file, kills);
    const files = testsFor(mutant, { tests, graph, kills });
    const key = Results.keyOf(source, mutant, 'unit');
    const known = results.get(key);
    const verdict = known && isValid(known, files, graph) ? known : await tryMutant();
    const killer = verdict.by?.split(': ')[0];
    if (killer) kills.set(killer, (kills.get(killer) ?? 0) + 1);
    if (verdict !== known) results.set(key, verdict);
    onVerdict(mutant, verdict);

    /** @returns {Promise<Verdict>} */
    async function tryMutant() {
      if (files.length === 0)
        return { killed: false, reached: files.length > 0, tests: hashOf(files, graph) };
      const outcome = await pool.use((workspace) =>
        workspace.with(mutant.file, applied(mutant, source), () =>
          runTests(files, { directory: workspace.directory, limitMs, signal }),
        ),
      );
      if (outcome.end === 'passed')
        return { killed: false, reached: files.length > 0, tests: hashOf(files, graph) };
      const by = `${outcome.file}: ${outcome.title || outcome.error}`;
      return { killed: true, by, tests: hashOf([outcome.file], graph) };
    }
  });
}

/** A test that noticed a mistake will notice it again. A survivor may be noticed by a new test. */
const isValid = (
  /** @type {Verdict} */ { killed, by, tests },
  /** @type {string[]} */ files,
  /** @type {ImportGraph} */ graph,
) => {
  const killer = by?.split(': ')[0] ?? '';
  if (killed) return files.includes(killer) && tests === hashOf([killer], graph);
  return tests === hashOf(files, graph);
};

/** @param {string[]} files @param {ImportGraph} graph */
const hashOf = (files, graph) => hash(files.toSorted().flatMap((file) => [file, graph.hashOf(file)]));
