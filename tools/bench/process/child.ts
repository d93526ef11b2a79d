import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { MillraceError } from '../../../common/errors.js';

const STOP_MS = 10_000;

/**
 * Starts a Node.js process of the bench. All its output goes into a log file.
 *
 * @param {string} script
 * @param {object} options
 * @param {string} options.title name for messages
 * @param {string[]} [options.args]
 * @param {NodeJS.ProcessEnv} [options.env] variables in addition to those of this process
 * @param {string[]} [options.nodeFlags]
 * @param {string} options.log path of the log file
 * @param {(line: string) => unknown} [options.isReady] gets each line of output; the process is ready when a truthy value is
 *   returned. Without it, the process is ready with its first IPC message
 */
export async function startChild(script, { title, args = [], env, nodeFlags = [], log, isReady }) {
  mkdirSync(dirname(log), { recursive: true });
  const child = fork(script, args, {
    env: { ...process.env, ...env },
    execArgv: nodeFlags,
    serialization: 'advanced',
    silent: true,
  });
  const file = createWriteStream(log);
  /** @type {Map<number, { resolve: (result: any) => void, reject: (error: Error) => void }>} */
  const asked = new Map();
  let questions = 0;
  let stopping = false;

  const dead = once(child, 'exit').then(([code, signal]) => {
    const error = new MillraceError('failed', `The ${title} ended (${signal ?? code}). Its log: ${log}`);
    for (const { reject } of asked.values()) reject(error);
    if (!stopping) throw error;
  });
  dead.catch(() => {}); // Each caller that awaits it gets the error.
  child.on(
    'message',
    (/** @type {{ id: number, result: unknown, error?: string }} */ { id, result, error }) => {
      const question = asked.get(id);
      asked.delete(id);
      if (error) question?.reject(new Error(`${title}: ${error}`));
      else question?.resolve(result);
    },
  );

  const ready = new Promise((resolve) => {
    if (!isReady) child.once('message', resolve);
    for (const stream of [child.stdout, child.stderr]) {
      if (!stream) continue;
      createInterface(stream).on('line', (line) => {
        file.write(`${line}\n`);
        const ready = isReady?.(line);
        if (ready) resolve(ready);
      });
    }
  });
  const said = await Promise.race([ready, dead]);

  return {
    /** The value that `isReady` returned. */
    said,
    pid: Number(child.pid),

    /** @param {string} call @param {unknown} [argument] @returns {Promise<any>} answer of the process */
    ask: (call, argument) =>
      new Promise((resolve, reject) => {
        if (!child.connected)
          return reject(new MillraceError('failed', `The ${title} has ended. Its log: ${log}`));
        const id = ++questions;
        asked.set(id, { resolve, reject });
        child.send({ id, call, argument });
      }),

    async stop() {
      stopping = true;
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      if (child.connected) child.disconnect();
      await dead.catch(() => {}); // The process has ended, as wanted.
      clearTimeout(late);
      file.end();
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof startChild>>} Child */

/**
 * Runs inside a process of the bench. It answers requests of the parent process over IPC, each with the function of that name in
 * `answers`. The process ends with its parent.
 *
 * @param {Record<string, (argument: any) => unknown>} answers
 * @param {() => unknown} [onEnd] closes open resources; the process waits for it
 */
export function serve(answers, onEnd = () => {}) {
  process.on('message', async (/** @type {{ id: number, call: string, argument: unknown }} */ question) => {
    const { id, call, argument } = question;
    try {
      reply({ id, result: await answers[call]?.(argument) });
    } catch (error) {
      reply({ id, error: /** @type {Error} */ (error).stack });
    }
  });
  process.on('disconnect', async () => {
    try {
      await onEnd();
    } finally {
      process.exit();
    }
  });
  // Ctrl-C reaches the whole process group. The parent ends this process after the measurement, or when it stops early.
  process.on('SIGINT', () => {});
  reply({ ready: true });
}

/** @param {object} message */
function reply(message) {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}
