/**
 * The runner of the unit and integration tests: jest's own command line, order of files and reports. But the files of a worker share
 * one registry of modules. Jest would load and link every module, and every package, again for each of some 400 files. That took most
 * of the time of the unit tests, and about a second for each file of the others. The registry may be shared because no module keeps
 * state. Mocks of modules and snapshots are not supported.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test, TestResult } from '@jest/test-result';
import type { Config } from '@jest/types';
import type { CallbackTestRunnerInterface } from 'jest-runner';
import type { FileAnswer, FileOrder } from './child.ts';

const script = fileURLToPath(new URL('child.ts', import.meta.url));

const SNAPSHOT = {
  added: 0,
  fileDeleted: false,
  matched: 0,
  unchecked: 0,
  uncheckedKeys: [],
  unmatched: 0,
  updated: 0,
};

export default class UnitRunner implements CallbackTestRunnerInterface {
  isSerial = false;
  #config;
  #filesPerProcess;

  /** @param options of the project: after so many files a process is replaced (default: never) */
  constructor(
    config: Config.GlobalConfig,
    _context: unknown,
    { filesPerProcess = Number.POSITIVE_INFINITY }: { filesPerProcess?: number } = {},
  ) {
    this.#config = config;
    this.#filesPerProcess = filesPerProcess;
  }

  async runTests(
    tests: Parameters<CallbackTestRunnerInterface['runTests']>[0],
    watcher: Parameters<CallbackTestRunnerInterface['runTests']>[1],
    onStart: Parameters<CallbackTestRunnerInterface['runTests']>[2],
    onResult: Parameters<CallbackTestRunnerInterface['runTests']>[3],
    onFailure: Parameters<CallbackTestRunnerInterface['runTests']>[4],
    { serial }: Parameters<CallbackTestRunnerInterface['runTests']>[5],
  ) {
    const queue = [...tests];
    const workers = Math.min(queue.length, serial ? 1 : this.#config.maxWorkers);
    const work = async () => {
      let worker = new Worker();
      for (let test = queue.shift(); test && !watcher.isInterrupted(); test = queue.shift()) {
        if (worker.files >= this.#filesPerProcess) {
          worker.end();
          worker = new Worker();
        }
        await onStart(test);
        try {
          const answer = await worker.run(this.#orderOf(test));
          // Jest would report only that the file has no test.
          if (answer.tests.length === 0 && answer.errors.length > 0)
            await onFailure(test, { message: '', stack: answer.errors.join('\n') });
          else await onResult(test, resultOf(test, answer));
        } catch (error) {
          await onFailure(test, error as never);
          worker.end();
          worker = new Worker();
        }
      }
      worker.end();
    };
    await Promise.all(Array.from({ length: workers }, work));
  }

  #orderOf({ path, context }: Test): FileOrder {
    const { testNamePattern, testTimeout, seed } = this.#config;
    const setUp = [...context.config.setupFilesAfterEnv];
    return { path, setUp, timeout: testTimeout ?? 5_000, pattern: testNamePattern ?? '', seed };
  }
}

class Worker {
  files = 0;
  #child: ChildProcess = fork(script, { execArgv: [], serialization: 'advanced' });

  /** @throws {Error} if the process ends before it answers */
  run(order: FileOrder): Promise<FileAnswer> {
    this.files++;
    return new Promise((resolve, reject) => {
      const onExit = (code: number | null, signal: string | null) =>
        reject(new Error(`The process of the test file ended (${signal ?? code}).`));
      this.#child.once('exit', onExit);
      this.#child.once('message', (answer: FileAnswer) => {
        this.#child.off('exit', onExit);
        resolve(answer);
      });
      this.#child.send(order);
    });
  }

  end() {
    if (this.#child.connected) this.#child.disconnect();
  }
}

/** @returns in jest's form */
function resultOf({ path, context }: Test, { tests, errors, start, end }: FileAnswer): TestResult {
  const testResults = tests.map(assertionOf);
  const count = (status: string) => testResults.filter((result) => result.status === status).length;
  const failed = testResults.filter(({ status }) => status === 'failed');
  const texts = failed.map(
    ({ fullName, failureMessages }) => `● ${fullName}\n\n${failureMessages.join('\n\n')}`,
  );
  const message = [...texts, ...errors].map((text) => text.replace(/^/gm, '  ')).join('\n\n');
  return {
    leaks: false,
    openHandles: [],
    skipped: false,
    snapshot: SNAPSHOT,
    displayName: context.config.displayName,
    failureMessage: message || null,
    numFailingTests: failed.length,
    numPassingTests: count('passed'),
    numPendingTests: count('pending'),
    numTodoTests: count('todo'),
    perfStats: {
      loadTestEnvironmentStart: start,
      loadTestEnvironmentEnd: start,
      setupAfterEnvStart: start,
      setupAfterEnvEnd: start,
      setupFilesStart: start,
      setupFilesEnd: start,
      start,
      end,
      runtime: end - start,
      slow: (end - start) / 1000 > context.config.slowTestThreshold,
    },
    testExecError:
      errors.length > 0
        ? { message: relative(context.config.rootDir, path), stack: errors.join('\n') }
        : undefined,
    testFilePath: path,
    testResults,
  };
}

function assertionOf({
  testPath,
  status,
  duration,
  errors,
  errorsDetailed,
  invocations,
  location,
  numPassingAsserts,
  retryReasons,
}: FileAnswer['tests'][number]): TestResult['testResults'][number] {
  // Circus names the root block first.
  const names = testPath.slice(1);
  return {
    ancestorTitles: names.slice(0, -1),
    title: names.at(-1) ?? '',
    fullName: names.join(' '),
    duration,
    failing: false,
    failureDetails: errorsDetailed,
    failureMessages: [...errors],
    invocations,
    location,
    numPassingAsserts,
    retryReasons: [...(retryReasons ?? [])],
    status: statusOf(status, errors),
  };
}

/** Circus itself reports only that a test ran, was left out, or is to be written. */
function statusOf(
  status: FileAnswer['tests'][number]['status'],
  errors: string[],
): TestResult['testResults'][number]['status'] {
  if (status === 'skip') return 'pending';
  if (status === 'todo') return 'todo';
  return errors.length > 0 ? 'failed' : 'passed';
}
