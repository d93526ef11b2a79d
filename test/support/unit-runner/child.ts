/**
 * Runs test files that the parent names, one after the other, in one process with one registry of modules.
 * Answers each with its results. Whatever a file changed in the process is restored after it.
 */
import { register } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Circus } from '@jest/types';
import fc from 'fast-check';
import { addEventHandler, getState, resetState, run } from 'jest-circus';
import { restoreGlobals } from './globals.ts';

/** A test file, and the set-up files of its project. */
export type FileOrder = {
  path: string;
  setUp: string[];
  timeout: number;
  pattern: string;
  seed: number;
  /** The first failed test answers at once. Its process must be ended then. */
  bails?: boolean;
};

/** The outcome of a test file. `errors` happened outside a test. */
export type FileAnswer = { tests: Circus.TestResult[]; errors: string[]; start: number; end: number };

register('./hooks.ts', import.meta.url);

let files = 0;

async function runFile({ path, setUp, timeout, pattern, seed }: FileOrder): Promise<FileAnswer> {
  const start = Date.now();
  files++;
  resetState();
  const testNamePattern = pattern ? new RegExp(pattern, 'i') : null;
  Object.assign(getState(), { testTimeout: timeout, testNamePattern, seed });
  fc.configureGlobal({ seed });
  const errors = [];
  let tests: Circus.TestResult[] = [];
  try {
    // A module runs once for each of its addresses. Set-up files run for each test file.
    for (const each of setUp) await import(`${pathToFileURL(each)}?file=${files}`);
    await import(pathToFileURL(path).href);
    const result = await run();
    tests = result.testResults;
    errors.push(...result.unhandledErrors);
  } catch (error) {
    errors.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  return { tests, errors, start, end: Date.now() };
}

// An error that nothing catches fails the test that runs, or the file between tests.
process.on('uncaughtException', (error) => {
  const { currentlyRunningTest, unhandledErrors } = getState();
  (currentlyRunningTest?.errors ?? unhandledErrors).push(error);
});

const variables = { ...process.env };
const directory = process.cwd();
const { fetch } = globalThis;

function restoreProcess() {
  restoreGlobals();
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(variables, name)) delete process.env[name];
  Object.assign(process.env, variables);
  process.chdir(directory);
  process.exitCode = undefined;
  globalThis.fetch = fetch;
}

process.on('message', async (order: FileOrder) => {
  const start = Date.now();
  if (order.bails)
    addEventHandler(({ name }) => {
      if (name === 'test_fn_failure' || name === 'hook_failure')
        process.send?.({ tests: [], errors: ['a test failed'], start, end: Date.now() } satisfies FileAnswer);
    });
  const answer = await runFile(order);
  // The process is restored first, because fake timers would hold the answer back.
  restoreProcess();
  process.send?.(answer);
});
// Handles that a test left open must not keep the process alive.
process.once('disconnect', () => process.exit(0));
