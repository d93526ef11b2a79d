import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../common/errors.js';

const POLL_MS = 150;
const ANSWER_MS = 2000;
const READY_MS = 60_000;

/**
 * Waits until the API says that it is ready.
 *
 * @param {string} url of the API's root, with a slash at its end
 * @param {{ token?: string, log: string, onStatus: (text: string) => void, signal: AbortSignal }} options
 *   `log`: path of its log, for the message
 * @throws {MillraceError} `failed` when it is not within a minute
 */
export async function untilReady(url, { token, log, onStatus, signal }) {
  const began = Date.now();
  let last = 'no answer';
  while (Date.now() - began < READY_MS) {
    last = await ask(`${url}readyz`, token);
    if (last === 'ready') return;
    onStatus(`API starts: ${last}`);
    await sleep(POLL_MS, undefined, { signal });
  }
  throw new MillraceError(
    'failed',
    `The API was not ready within ${READY_MS / 1000} s; ${url}readyz says: ${last}. Its log: ${log}`,
  );
}

/** @param {string} url @param {string | undefined} token @returns {Promise<string>} `ready`, or what it says instead */
async function ask(url, token) {
  /** @type {Record<string, string>} */
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(ANSWER_MS) });
    const text = await response.text();
    return response.status === 200 ? 'ready' : `${response.status} ${text.slice(0, 200)}`;
  } catch {
    return 'no answer'; // It does not listen yet; that a process died is seen by who started it.
  }
}
