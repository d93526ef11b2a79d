/**
 * Prints jest's results: the slowest test files, a line for each test that failed, then their counts: `node summary.js RESULTS.json ...`.
 * Exit code 1 when anything failed or was skipped.
 */
import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';

/** How many of the slowest test files are printed. */
const SLOWEST = 10;

const suites = await Promise.all(
  process.argv.slice(2).map(async (path) => JSON.parse(await readFile(path, 'utf8'))),
);
const sum = (/** @type {string} */ field) => suites.reduce((total, suite) => total + suite[field], 0);
const files = suites.flatMap(({ testResults }) => testResults);

const slowest = files
  .map(({ name, startTime, endTime }) => ({ name, seconds: (endTime - startTime) / 1000 }))
  .sort((a, b) => b.seconds - a.seconds)
  .slice(0, SLOWEST);
if (slowest.length > 0) console.log('Slowest test files:');
for (const { name, seconds } of slowest)
  console.log(`${seconds.toFixed(1).padStart(8)} s  ${relative('', name)}`);

for (const { name, status, assertionResults } of files) {
  if (status !== 'failed') continue;
  const tests = assertionResults.filter((/** @type {any} */ result) => result.status === 'failed');
  if (tests.length === 0) console.log(`${name}: its tests did not run`);
  for (const { fullName } of tests) console.log(`${name}: ${fullName}`);
}
const failed = sum('numFailedTests') + sum('numRuntimeErrorTestSuites');
const skipped = sum('numPendingTests') + sum('numTodoTests');
console.log(`${sum('numPassedTests')} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed + skipped > 0 ? 1 : 0;
