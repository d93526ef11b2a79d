import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../common/errors.js';

const PAUSE_MS = 500;
const ATTEMPTS = 60;

/**
 * Asks again for half a minute while the database does not answer: nodes that come back take their time.
 *
 * @template T
 * @param {() => Promise<T>} read
 * @returns {Promise<T>}
 * @throws {MillraceError} `unavailable`
 */
export async function patiently(read) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      const passes = error instanceof MillraceError && error.code === 'unavailable';
      if (!passes || attempt === ATTEMPTS) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
