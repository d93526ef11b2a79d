import { forEachConcurrently } from '../../common/concurrency.js';
import { MillraceError } from '../../common/errors.js';
import { runTests } from './runner/child.js';
import { Workspace } from './workspace.js';

/**
 * A mistake that a test must notice. `before` occurs once in the file, and `after` replaces it.
 *
 * @typedef {{ file: string, before: string, after: string, test: string }} Known
 */

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
 * @param {{ workers: number, onStatus: (text: string) => void, signal: AbortSignal }} options `workers`: mistakes at a time
 * @returns {Promise<string[]>} a text for each entry that does not apply, that its test does not notice, or whose test fails without the
 *   mistake
 */
export async function findUnnoticed(entries, { workers, onStatus, signal }) {
  const workspaces = await Promise.all(Array.from({ length: workers }, () => Workspace.create()));
  const free = [...workspaces];
  /** @type {string[]} */
  const problems = [];
  /** Whether each test passes without a mistake. @type {Map<string, Promise<boolean>>} */
  const passing = new Map();
  let begun = 0;

  /** @param {Workspace} workspace @param {string} test @returns {Promise<boolean>} whether it passes */
  const passes = async ({ directory }, test) =>
    (await runTests([test], { directory, signal })).end === 'passed';

  /** @param {Known} entry @param {Workspace} workspace @returns {Promise<string>} the problem; empty: none */
  async function problemOf(entry, workspace) {
    const { file, before, after, test } = entry;
    const isUnnoticed = await workspace.with(
      file,
      (source) => sourceWith(entry, source),
      () => passes(workspace, test),
    );
    const name = `${file}: \`${oneLine(before)}\` -> \`${oneLine(after)}\``;
    if (isUnnoticed) return `${name}: ${test} does not notice it.`;
    const known = passing.get(test) ?? passes(workspace, test);
    passing.set(test, known);
    return (await known) ? '' : `${name}: ${test} fails without the mistake, too.`;
  }

  try {
    await forEachConcurrently(workers, entries, async (entry) => {
      onStatus(`Mutation: known mistakes, ${++begun} of ${entries.length}: ${entry.file}`);
      const workspace = /** @type {Workspace} */ (free.pop());
      try {
        const problem = await problemOf(entry, workspace);
        if (problem) problems.push(problem);
      } catch (error) {
        if (!(error instanceof MillraceError) || signal.aborted) throw error;
        problems.push(error.message);
      } finally {
        free.push(workspace);
      }
    });
    return problems;
  } finally {
    await Promise.all(workspaces.map((workspace) => workspace.remove()));
  }
}

/** @param {string} text */
const oneLine = (text) => text.replaceAll(/\s+/g, ' ').trim();
