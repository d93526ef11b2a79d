import { setMaxListeners } from 'node:events';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../common/errors.js';
import { LogThrottle } from '../../common/log-throttle.js';

/** @import { Logger } from 'pino' */

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2000;
const REPORT_EVERY_MS = 10_000;

/**
 * Retries transient failures in place, without a limit. A broker redelivers an unacknowledged message only after a reconnect, so
 * giving up on a message would mean closing the connection.
 *
 * @param {{ logger: Logger, onRetry: () => void }} deps
 */
export function createRetry({ logger, onRetry }) {
  const ending = new AbortController();
  // Every waiting request listens to the signal. While the database is away, these are all messages in flight.
  setMaxListeners(0, ending.signal);
  const throttle = new LogThrottle({ everyMs: REPORT_EVERY_MS });
  let failingSince = 0;
  let answeredAt = Number.NEGATIVE_INFINITY;

  /** A rejection is an answer as well: the database is there. */
  function noteAnswer() {
    failingSince = 0;
    answeredAt = performance.now();
  }

  /** @param {MillraceError} error */
  function report(error) {
    const now = Date.now();
    failingSince ||= now;
    if (throttle.count('unavailable') === 0) return;
    const seconds = Math.round((now - failingSince) / 1000);
    logger.warn({ seconds, reason: error.message }, 'the database does not take requests; waiting for it');
  }

  return {
    /**
     * @template T
     * @param {() => Promise<T>} request idempotent
     * @returns {Promise<T>}
     * @throws {MillraceError} `rejected`, which is permanent; `unavailable` only while this process ends
     */
    async run(request) {
      for (let attempt = 0; ; attempt++) {
        try {
          const answer = await request();
          if (failingSince) logger.info('the database takes requests again');
          noteAnswer();
          return answer;
        } catch (error) {
          if (!(error instanceof MillraceError) || error.code !== 'unavailable') {
            noteAnswer();
            throw error;
          }
          if (ending.signal.aborted) throw error;
          report(error);
          onRetry();
          await pause(attempt, ending.signal);
        }
      }
    },
    /** @returns {number} ms since requests began to fail; 0: the last one succeeded */
    get failingForMs() {
      return failingSince ? Date.now() - failingSince : 0;
    },
    /** @returns {number} time of the last answer, in ms of `performance.now()`; -Infinity before the first */
    get answeredAt() {
      return answeredAt;
    },
    /** Ends all retries. Waiting requests fail with `unavailable`. */
    abort: () => ending.abort(),
    get isAborted() {
      return ending.signal.aborted;
    },
  };
}

/** @typedef {ReturnType<typeof createRetry>} Retry */

/**
 * Waits with jitter, so that clients that failed together do not come back together.
 *
 * @param {number} attempt counting from 0
 * @param {AbortSignal} signal
 */
async function pause(attempt, signal) {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(attempt, 10));
  try {
    await sleep(longest * (0.5 + Math.random() / 2), undefined, { signal });
  } catch {
    throw new MillraceError('unavailable', 'this process ends before the database took the write');
  }
}
