import { setMaxListeners } from 'node:events';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { MillraceError } from '../../../common/errors.ts';
import { LogThrottle } from '../../../common/log-throttle.ts';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2000;
const REPORT_EVERY_MS = 10_000;

/**
 * Retries without a limit. A broker redelivers an unacknowledged message only after a reconnect. So if ingest
 * gave up on a message, it would have to close the connection to get the message again.
 */
export class Retry {
  #logger;
  #onRetry;
  #ending = new AbortController();
  #throttle = new LogThrottle({ everyMs: REPORT_EVERY_MS });
  /** When requests began to fail, in ms of `performance.now()`; null: the last request succeeded. */
  #failingSince: number | null = null;
  #answeredAt = Number.NEGATIVE_INFINITY;

  constructor({ logger, onRetry }: { logger: Pick<Logger, 'info' | 'warn'>; onRetry: () => void }) {
    this.#logger = logger;
    this.#onRetry = onRetry;
    // No limit of listeners: every waiting request listens to the signal, and while the database is unavailable, all
    // messages in flight wait.
    setMaxListeners(0, this.#ending.signal);
  }

  /** @param request idempotent @throws `rejected`, which is permanent; `unavailable` only while this process ends */
  async run<T>(request: () => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        const answer = await request();
        this.noteAnswer();
        return answer;
      } catch (error) {
        await this.wait(error, attempt);
      }
    }
  }

  /** For callers with a loop of their own. @param attempt counting from 0 @throws as `run` */
  async wait(error: unknown, attempt: number) {
    if (!(error instanceof MillraceError) || error.code !== 'unavailable') {
      this.#markAnswered();
      throw error;
    }
    if (this.#ending.signal.aborted) throw error;
    this.#report(error);
    this.#onRetry();
    await pause(attempt, this.#ending.signal);
  }

  noteAnswer() {
    if (this.#failingSince !== null) this.#logger.info('the database takes requests again');
    this.#markAnswered();
  }

  /** 0: the last request succeeded */
  get failingForMs(): number {
    return this.#failingSince === null ? 0 : performance.now() - this.#failingSince;
  }

  get answeredAt(): number {
    return this.#answeredAt;
  }

  abort() {
    return this.#ending.abort();
  }

  get isAborted() {
    return this.#ending.signal.aborted;
  }

  /** A rejection is an answer too, because it shows that the database is available. */
  #markAnswered() {
    this.#failingSince = null;
    this.#answeredAt = performance.now();
  }

  #report(error: MillraceError) {
    const now = performance.now();
    this.#failingSince ??= now;
    if (this.#throttle.count('unavailable') === 0) return;
    const seconds = Math.round((now - this.#failingSince) / 1000);
    this.#logger.warn(
      { seconds, reason: error.message },
      'the database does not take requests; waiting for it',
    );
  }
}

/** With jitter, so that clients that failed together do not retry together. */
async function pause(attempt: number, signal: AbortSignal) {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(attempt, 10));
  try {
    await sleep(longest * (0.5 + Math.random() / 2), undefined, { signal });
  } catch {
    throw new MillraceError('unavailable', 'this process ends before the database took the write');
  }
}
