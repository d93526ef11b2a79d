import type { Logger } from 'pino';
import { LogThrottle } from '../../common/log-throttle.ts';
import type { Steps } from './steps.ts';
import { withTimeLimit } from './time-limit.ts';

/** Repeats a round of work, with a pause before each, until it is stopped. */
export class Rounds {
  #steps;
  #pauseMs;
  #work;
  #logger;
  #failed;
  #onFailure;
  #throttle = new LogThrottle();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();

  constructor(options: {
    steps: Steps;
    pauseMs: number;
    work: () => Promise<unknown>;
    logger: Logger;
    /** logged with the error of a round; the next round starts as usual */
    failed: string;
    onFailure?: () => void;
  }) {
    this.#steps = options.steps;
    this.#pauseMs = options.pauseMs;
    this.#work = options.work;
    this.#logger = options.logger;
    this.#failed = options.failed;
    this.#onFailure = options.onFailure;
  }

  start() {
    if (this.#steps.stopped) return;
    // Random pauses keep processes that started together from checking at the same moments.
    const pause = this.#pauseMs * (0.5 + Math.random());
    this.#timer = setTimeout(() => {
      this.#round = this.#runOnce().then(() => this.start());
    }, pause).unref();
  }

  /** Waits a limited time for the round under way, because the database may not answer its last request. */
  async stop(withinMs?: number) {
    clearTimeout(this.#timer);
    this.#steps.stop();
    await withTimeLimit(this.#round, withinMs);
  }

  async #runOnce() {
    try {
      await this.#work();
    } catch (err) {
      if (this.#steps.stopped) return;
      this.#onFailure?.();
      if (this.#throttle.count('round') > 0) this.#logger.error({ err }, this.#failed);
    }
  }
}
