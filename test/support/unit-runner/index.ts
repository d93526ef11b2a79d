/**
 * The runner of the unit and integration tests: jest's own command line, order of files and reports. But the files of a worker share
 * one registry of modules. Jest would load and link every module, and every package, again for each of some 400 files. That took most
 * of the time of the unit tests, and about a second for each file of the others. The registry may be shared because no module keeps
 * state. Mocks of modules and snapshots are not supported.
 */
import { fork } from 'node:child_process';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** @import { Config } from '@jest/types' */
/** @import { Test, TestResult } from '@jest/test-result' */
/** @import { CallbackTestRunnerInterface } from 'jest-runner' */
/** @import { ChildProcess } from 'node:child_process' */
/** @import { FileAnswer, FileOrder } from './child.js' */

const script = fileURLToPath(new URL('child.js', import.meta.url));

const SNAPSHOT = {
  added: 0,
  fileDeleted: false,
  matched: 0,
  unchecked: 0,
  uncheckedKeys: [],
  unmatched: 0,
  updated: 0,
};

/** @implements {CallbackTestRunnerInterface} */
export default class UnitRunner {
  isSerial = false;
  #config;
  #filesPerProcess;

  /**
   * @param {Config.GlobalConfig} config
   * @param {unknown} _context
   * @param {{ filesPerProcess?: number }} [options] of the project: after so many files a process is replaced (default: never)
   */
  constructor(config, _context, { filesPerProcess = Number.POSITIVE_INFINITY } = {}) {
    this.#config = config;
    this.#filesPerProcess = filesPerProcess;
  }

  /** @type {CallbackTestRunnerInterface['runTests']} */
  async runTests(tests, watcher, onStart, onResult, onFailure, { serial }) {
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
          await onFailure(test, /** @type {any} */ (error));
          worker.end();
          worker = new Worker();
        }
      }
      worker.end();
    };
    await Promise.all(Array.from({ length: workers }, work));
  }

  /** @param {Test} test @returns {FileOrder} */
  #orderOf({ path, context }) {
    const { testNamePattern, testTimeout, seed } = this.#config;
    const setUp = [...context.config.setupFilesAfterEnv];
    return { path, setUp, timeout: testTimeout ?? 5_000, pattern: testNamePattern ?? '', seed };
  }
}

/** One process that runs test files. */
class Worker {
  /** Number of files that this process has run. */
  files = 0;
  /** @type {ChildProcess} */
  #child = fork(script, { execArgv: [], serialization: 'advanced' });

  /** @param {FileOrder} order @returns {Promise<FileAnswer>} @throws {Error} if the process ends before it answers */
  run(order) {
    this.files++;
    return new Promise((resolve, reject) => {
      const onExit = (/** @type {number | null} */ code, /** @type {string | null} */ signal) =>
        reject(new Error(`The process of the test file ended (${signal ?? code}).`));
      this.#child.once('exit', onExit);
      this.#child.once('message', (/** @type {FileAnswer} */ answer) => {
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

/** @param {Test} test @param {FileAnswer} answer @returns {TestResult} in jest's form */
function resultOf({ path, context }, { tests, errors, start, end }) {
  const testResults = tests.map(assertionOf);
  const count = (/** @type {string} */ status) =>
    testResults.filter((result) => result.status === status).length;
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

/** @param {FileAnswer['tests'][number]} result @returns {TestResult['testResults'][number]} */
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
}) {
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

/**
 * Circus itself reports only that a test ran, was left out, or is to be written.
 *
 * @param {FileAnswer['tests'][number]['status']} status
 * @param {string[]} errors
 * @returns {TestResult['testResults'][number]['status']}
 */
function statusOf(status, errors) {
  if (status === 'skip') return 'pending';
  if (status === 'todo') return 'todo';
  return errors.length > 0 ? 'failed' : 'passed';
}
