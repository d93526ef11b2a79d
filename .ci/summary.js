/** Prints jest's results in one line: `node summary.js RESULTS.json`. Exit code 1 when anything failed or was skipped. */
import { readFile } from 'node:fs/promises';

const results = JSON.parse(await readFile(String(process.argv[2]), 'utf8'));
const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
const skipped = results.numPendingTests + results.numTodoTests;
console.log(`${results.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed + skipped > 0 ? 1 : 0;
