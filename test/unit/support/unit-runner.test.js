import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const JEST = fileURLToPath(new URL('../../../node_modules/jest/bin/jest.js', import.meta.url));
const RUNNER = fileURLToPath(new URL('../../support/unit-runner', import.meta.url));

/** @param {string} file @returns {Promise<{ code: number, result: any }>} jest's exit code and results */
async function runJest(file) {
  const config = {
    rootDir: `${RUNNER}/fixture`,
    testMatch: [`**/${file}`],
    runner: `${RUNNER}/index.js`,
    transform: {},
  };
  const args = [JEST, '--config', JSON.stringify(config), '--json', '--seed', '7'];
  const { code, stdout } = await promisify(execFile)(process.execPath, args).then(
    (ended) => ({ ...ended, code: 0 }),
    (error) => error,
  );
  return { code, result: JSON.parse(stdout) };
}

test('Runner of unit tests: a file with each way to end: jest names each, and fails', async () => {
  const { code, result } = await runJest('outcomes.js');
  const { assertionResults } = result.testResults[0];
  expect(assertionResults.map((/** @type {any} */ { fullName, status }) => `${fullName}: ${status}`)).toEqual(
    [
      'passes: passed',
      'expects something else: failed',
      'throws later: failed',
      'leaves a rejection unhandled: failed',
      'takes too long: failed',
      'is skipped: pending',
      'is to be written: todo',
      'a hook fails after it: failed',
    ],
  );
  expect(code).toBe(1);
});

test.each(['not-loaded.js', 'ended.js'])('Runner of unit tests: %s: the file fails', async (file) => {
  const { code, result } = await runJest(file);
  expect(result).toMatchObject({ numFailedTestSuites: 1, numPassedTests: 0 });
  expect(code).toBe(1);
});
