import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

interface Result {
  numPassedTests: number;
  testResults: { name: string; assertionResults: { fullName: string; status: string }[] }[];
}

const JEST = fileURLToPath(new URL('../../../node_modules/jest/bin/jest.js', import.meta.url));
const RUNNER = fileURLToPath(new URL('../../support/unit-runner', import.meta.url));

/**
 * @param files test files of the fixture
 * @param settings further settings of Jest
 * @returns exit code and results of Jest
 */
async function runJest(files: string[], settings: object = {}) {
  const config = {
    rootDir: `${RUNNER}/fixture`,
    testMatch: files.map((file) => `**/${file}`),
    runner: `${RUNNER}/index.ts`,
    transform: {},
    ...settings,
  };
  const args = [JEST, '--config', JSON.stringify(config), '--json', '--seed', '7'];
  const { code, stdout } = await promisify(execFile)(process.execPath, args).then(
    (ended) => ({ ...ended, code: 0 }),
    (error) => error,
  );
  const result: Result = JSON.parse(stdout);
  const ofFile = (file: string) => result.testResults.find(({ name }) => basename(name) === file);
  return { code, result, ofFile };
}

test('Unit test runner: tests pass, fail, hang, are skipped or do not load: Jest reports each result, and exits with code 1', async () => {
  const lost = ['not-loaded.ts', 'ended.ts'];
  const { code, result, ofFile } = await runJest(['outcomes.ts', ...lost]);
  const { assertionResults = [] } = ofFile('outcomes.ts') ?? {};
  expect(assertionResults.map(({ fullName, status }) => `${fullName}: ${status}`)).toEqual([
    'passes: passed',
    'expects something else: failed',
    'throws later: failed',
    'leaves a rejection unhandled: failed',
    'takes too long: failed',
    'is skipped: pending',
    'is to be written: todo',
    'a hook fails after it: failed',
  ]);
  for (const file of lost) expect(ofFile(file)).toMatchObject({ status: 'failed', assertionResults: [] });
  expect(result).toMatchObject({ numFailedTestSuites: 3, numPassedTests: 1 });
  expect(code).toBe(1);
});

test('Unit test runner: a Jest project has a set-up file: the file runs for each test file, even in one process', async () => {
  const settings = { setupFilesAfterEnv: [`${RUNNER}/fixture/set-up.ts`], maxWorkers: 1 };
  const { code, result } = await runJest(['set-up-1.ts', 'set-up-2.ts'], settings);
  expect({ code, passed: result.numPassedTests }).toEqual({ code: 0, passed: 2 });
});
