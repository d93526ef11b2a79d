/**
 * Prints jest's results: a line for each test that failed, then their counts: `node summary.js RESULTS.json ...`. Exit code 1 when anything
 * failed or was skipped.
 */
import { readFile } from 'node:fs/promises';

const suites = await Promise.all(
  process.argv.slice(2).map(async (path) => JSON.parse(await readFile(path, 'utf8'))),
);
const sum = (/** @type {string} */ field) => suites.reduce((total, suite) => total + suite[field], 0);

for (const { name, status, assertionResults } of suites.flatMap(({ testResults }) => testResults)) {
  if (status !== 'failed') continue;
  const tests = assertionResults.filter((/** @type {any} */ result) => result.status === 'failed');
  if (tests.length === 0) console.log(`${name}: its tests did not run`);
  for (const { fullName } of tests) console.log(`${name}: ${fullName}`);
}
const failed = sum('numFailedTests') + sum('numRuntimeErrorTestSuites');
const skipped = sum('numPendingTests') + sum('numTodoTests');
console.log(`${sum('numPassedTests')} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed + skipped > 0 ? 1 : 0;
