import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const JEST = fileURLToPath(new URL('../../../node_modules/jest/bin/jest.js', import.meta.url));
const RUNNER = fileURLToPath(new URL('../../support/unit-runner', import.meta.url));

/**
 * @param {string[]} files of the fixture
 * @returns {Promise<{ code: number, result: any, ofFile: (file: string) => any }>} jest's exit code and results
 */
async function runJest(files) {
  const config = {
    rootDir: `${RUNNER}/fixture`,
    testMatch: files.map((file) => `**/${file}`),
    runner: `${RUNNER}/index.js`,
    transform: {},
  };
  const args = [JEST, '--config', JSON.stringify(config), '--json', '--seed', '7'];
  const { code, stdout } = await promisify(execFile)(process.execPath, args).then(
    (ended) => ({ ...ended, code: 0 }),
    (error) => error,
  );
  const result = JSON.parse(stdout);
  const ofFile = (/** @type {string} */ file) =>
    result.testResults.find((/** @type {any} */ { name }) => basename(name) === file);
  return { code, result, ofFile };
}

test('Runner of unit tests: files with each way to end: jest names each, and fails', async () => {
  const lost = ['not-loaded.js', 'ended.js'];
  const { code, result, ofFile } = await runJest(['outcomes.js', ...lost]);
  const { assertionResults } = ofFile('outcomes.js');
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
  for (const file of lost) expect(ofFile(file)).toMatchObject({ status: 'failed', assertionResults: [] });
  expect(result).toMatchObject({ numFailedTestSuites: 3, numPassedTests: 1 });
  expect(code).toBe(1);
});
