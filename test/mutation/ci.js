import { MillraceError } from '../../common/errors.js';
import { someAtOnce } from '../../common/some-at-once.js';
import { oneLine } from './mutants.js';
import { runTests } from './runner/child.js';

/** @import { Pool } from './pool.js' */
/** @import { ImportGraph } from './test-files.js' */
/** @import { Workspace } from './workspace.js' */

/**
 * A mistake that a test must notice. `before` occurs once in the file, and `after` replaces it. Without `test`, all unit tests that
 * import the file run.
 *
 * @typedef {{ file: string, before: string, after: string, test?: string, finding?: string }} Known
 */

/** Limit for the time between two finished tests, in ms. */
const LIMIT_MS = 120_000;

const RENEW =
  'Renew the entry in test/mutation: name the code as it is now, a mistake of the same kind, and the test.';

/**
 * @param {Known} entry
 * @param {string} source
 * @returns {string} the source with the mistake
 * @throws {MillraceError} `usage` when the entry does not apply
 */
export function sourceWith({ file, before, after }, source) {
  const times = source.split(before).length - 1;
  if (times === 1) return source.replace(before, () => after);
  const problem = times === 0 ? 'is not there any more' : `is there ${times} times`;
  throw new MillraceError('usage', `${file}: \`${before}\` ${problem}. ${RENEW}`);
}

/**
 * Tries known mistakes.
 *
 * @param {Known[]} entries
 * @param {object} options
 * @param {Pool} options.pool
 * @param {ImportGraph} options.graph
 * @param {(text: string) => void} options.onStatus
 * @param {AbortSignal} [options.signal]
 * @returns {Promise<string[]>} a text for each entry that does not apply, that no test notices, or whose test fails without the mistake
 */
export async function findUnnoticed(entries, { pool, graph, onStatus, signal }) {
  /** @type {string[]} */
  const problems = [];
  /** @type {Map<string, Promise<boolean>>} */
  const passing = new Map();
  let begun = 0;

  /** @param {Workspace} workspace @param {string[]} tests */
  const run = ({ directory }, tests) => runTests(tests, { directory, limitMs: () => LIMIT_MS, signal });

  /** @param {Known} entry @param {Workspace} workspace @returns {Promise<string>} the problem; empty: none */
  async function problemOf(entry, workspace) {
    const tests = entry.test ? [entry.test] : testsNear(entry.file, graph);
    if (tests.length === 0) return `${entry.finding} ${entry.file}: no unit test imports it.`;
    const text = sourceWith(entry, await workspace.read(entry.file));
    const { end, file } = await workspace.with(entry.file, text, () => run(workspace, tests));
    const name = `${entry.finding ? `${entry.finding} ` : ''}${entry.file}: \`${oneLine(entry.before)}\` -> \`${oneLine(entry.after)}\``;
    if (end === 'passed')
      return `${name}: no test notices, of ${entry.test ?? `${tests.length} that import it`}.`;
    const passes = passing.get(file) ?? run(workspace, [file]).then((outcome) => outcome.end === 'passed');
    passing.set(file, passes);
    return (await passes) ? '' : `${name}: ${file} fails without the mistake, too.`;
  }

  await someAtOnce(pool.size, entries, async (entry) => {
    onStatus(`Mutation: known mistakes, ${++begun} of ${entries.length}: ${entry.file}`);
    const problem = await pool
      .use((workspace) => problemOf(entry, workspace))
      .catch((error) => {
        if (error instanceof MillraceError && !signal?.aborted) return error.message;
        throw error;
      });
    if (problem) problems.push(problem);
  });
  return problems;
}

/** @param {string} file @param {ImportGraph} graph @returns {string[]} nearest first */
function testsNear(file, { unitTests, reachedBy }) {
  const distance = (/** @type {string} */ test) => reachedBy(test).get(file) ?? Number.POSITIVE_INFINITY;
  return unitTests
    .filter((test) => Number.isFinite(distance(test)))
    .sort((a, b) => distance(a) - distance(b));
}
