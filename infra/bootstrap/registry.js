import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../common/errors.js';

/** Pauses between the tries, in ms. A mirror that restarts is back within seconds. */
const PAUSES_MS = [5000, 20_000];

/**
 * Runs a task that needs a package registry. When it fails, it is tried two more times, because a registry may be away for a moment. A
 * `MillraceError` of the task has another cause, so it is thrown at once.
 *
 * @template T
 * @param {string} registry its name in messages, e.g. `Maven Central`
 * @param {() => Promise<T>} task
 * @param {object} options
 * @param {(text: string) => void} options.onStatus
 * @param {string} [options.advice] a sentence or a command for the reader of the error
 * @param {AbortSignal} [options.signal] ends the pauses; its tasks end by themselves
 * @param {number[]} [options.pausesMs]
 * @returns {Promise<T>}
 * @throws {MillraceError} `install_failed`: the registry did not answer three times
 */
export async function askRegistry(registry, task, { onStatus, advice = '', signal, pausesMs = PAUSES_MS }) {
  for (let tries = 0; ; tries++) {
    try {
      return await task();
    } catch (error) {
      if (signal?.aborted || error instanceof MillraceError) throw error;
      const pauseMs = pausesMs[tries];
      const reason = /** @type {Error} */ (error).message;
      if (pauseMs === undefined) {
        throw new MillraceError(
          'install_failed',
          [`${registry} did not answer: ${reason}`, advice].filter(Boolean).join('\n'),
          { cause: error },
        );
      }
      onStatus(`${registry} did not answer; next try in ${pauseMs / 1000} s`);
      await sleep(pauseMs, undefined, { signal });
    }
  }
}
