import type { Logger } from 'pino';
import { LogThrottle } from '../../common/log-throttle.ts';
import { closingOf } from '../../schema/rules.ts';
import type { Leases, Steps } from '../history/packing/index.ts';
import type { ClockGuard } from '../store/clock-guard.ts';

/** Each group of devices (shard) is completed in order of time. The outputs to Kafka and to Parquet share this. */
export function createClosedHours({
  groups,
  clock,
  steps,
  leases,
  readUntil,
  completeHour,
  onUntil,
}: {
  groups: number;
  clock: Pick<ClockGuard, 'now'>;
  steps: Steps;
  leases: Leases;
  readUntil: (group: number) => Promise<number>;
  /** stores the progress and returns it, in epoch ms; may be repeated without harm */
  completeHour: (group: number, hour: number) => Promise<number>;
  onUntil: (group: number, until: number) => void;
}) {
  async function completeIfDue(group: number) {
    const found = await readUntil(group);
    onUntil(group, found);
    if ((await clock.now()) < closingOf(found)) return;
    await leases.hold(group, async () => {
      // Read the progress again, because the previous owner of the lease may have completed all hours.
      let until = await readUntil(group);
      while ((await clock.now()) >= closingOf(until)) {
        until = await completeHour(group, until);
        onUntil(group, until);
      }
    });
  }

  return {
    /**
     * Skips hours that another process is completing.
     * @throws the error of the first group that failed, after the other groups were completed
     */
    async completeDue(): Promise<void> {
      const failures: unknown[] = [];
      for (let group = 0; group < groups && !steps.stopped; group++) {
        await completeIfDue(group).catch((error) => failures.push(error));
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}

export class CompletionLoop {
  #completeDue;
  #steps;
  #pauseMs;
  #logger;
  #target;
  #onFailure;
  #throttle = new LogThrottle();
  #timer: NodeJS.Timeout | undefined;
  #round = Promise.resolve();

  constructor({
    completeDue,
    steps,
    pauseMs,
    logger,
    target,
    onFailure = () => {},
  }: {
    completeDue: () => Promise<void>;
    steps: Steps;
    pauseMs: number;
    logger: Logger;
    target: string;
    onFailure?: () => void;
  }) {
    this.#completeDue = completeDue;
    this.#steps = steps;
    this.#pauseMs = pauseMs;
    this.#logger = logger;
    this.#target = target;
    this.#onFailure = onFailure;
  }

  start() {
    if (this.#steps.stopped) return;
    // Random pauses keep processes that started together from checking at the same moments.
    const pause = this.#pauseMs * (0.5 + Math.random());
    this.#timer = setTimeout(() => {
      this.#round = this.#completeOnce().then(() => this.start());
    }, pause).unref();
  }

  /** Settles when the check under way has ended. */
  stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#steps.stop();
    return this.#round;
  }

  async #completeOnce() {
    try {
      await this.#completeDue();
    } catch (error) {
      if (this.#steps.stopped) return;
      this.#onFailure();
      if (this.#throttle.count('completion') > 0)
        this.#logger.error(
          { err: error },
          `completing ${this.#target} failed, and goes on with the next check`,
        );
    }
  }
}
