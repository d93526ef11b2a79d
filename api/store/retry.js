import { setMaxListeners } from 'node:events';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../common/errors.js';

/** @import { Logger } from 'pino' */

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2000;
const REPORT_EVERY_MS = 10_000;

/**
 * Repeats in place what fails for a reason that passes, for as long as it takes: a broker redelivers an unacknowledged
 * message only after a reconnect, so giving a message up would mean closing the connection.
 *
 * @param {{ logger: Logger, onRetry: () => void }} parts
 */
export function createRetry({ logger, onRetry }) {
  const ending = new AbortController();
  // Everything that waits listens to it: while the database is away, as many as there are messages in flight.
  setMaxListeners(0, ending.signal);
  let failingSince = 0;
  let reportedAt = 0;
  let answeredAt = Number.NEGATIVE_INFINITY;

  /** A refusal is an answer as well: nobody may go on being told that the database is away. */
  function noteAnswer() {
    failingSince = 0;
    answeredAt = performance.now();
  }

  /** @param {MillraceError} error */
  function report(error) {
    const now = Date.now();
    failingSince ||= now;
    if (now - reportedAt < REPORT_EVERY_MS) return;
    reportedAt = now;
    const seconds = Math.round((now - failingSince) / 1000);
    logger.warn({ seconds, reason: error.message }, 'the database does not take requests; waiting for it');
  }

  return {
    /**
     * @template T
     * @param {() => Promise<T>} request idempotent
     * @returns {Promise<T>}
     * @throws {MillraceError} `rejected`, which no repetition mends; `unavailable` only while this process ends
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
    /** @returns {number} ms for which nothing was taken though something was sent; 0: all is well, as far as is known */
    get failingForMs() {
      return failingSince ? Date.now() - failingSince : 0;
    },
    /** @returns {number} when the database last answered, ms of a clock that nobody sets; never yet: -Infinity */
    get answeredAt() {
      return answeredAt;
    },
    /** From now on nothing is repeated any more; what is being waited for fails. */
    abort: () => ending.abort(),
    get isAborted() {
      return ending.signal.aborted;
    },
  };
}

/** @typedef {ReturnType<typeof createRetry>} Retry */

/**
 * Full jitter: clients that failed together do not come back together.
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
