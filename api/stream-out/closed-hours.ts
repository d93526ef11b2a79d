import { LogThrottle } from '../../common/log-throttle.js';
import { closingOf } from '../../schema/rules.js';

/** @import { Logger } from 'pino' */
/** @import { Leases, Steps } from '../history/packing/index.js' */
/** @import { ClockGuard } from '../store/clock-guard.js' */

/**
 * Completes closed hours, each group of devices (shard) in order of time. The outputs to Kafka and to Parquet both use it.
 *
 * @param {object} deps
 * @param {number} deps.groups number of groups (`LATEST_GROUPS`)
 * @param {Pick<ClockGuard, 'now'>} deps.clock
 * @param {Steps} deps.steps
 * @param {Leases} deps.leases
 * @param {(group: number) => Promise<number>} deps.readUntil reads the progress of a group: all hours before this time, in epoch
 *   ms, are complete
 * @param {(group: number, hour: number) => Promise<number>} deps.completeHour completes an hour, stores the progress of the
 *   group and returns it, in epoch ms; it may be repeated without harm
 * @param {(group: number, until: number) => void} deps.onUntil called with the progress of a group after each read or completed
 *   hour
 */
export function createClosedHours({ groups, clock, steps, leases, readUntil, completeHour, onUntil }) {
  /** @param {number} group */
  async function completeIfDue(group) {
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
     * Completes all closed hours that no other process is completing.
     *
     * @returns {Promise<void>}
     * @throws the error of the first group that failed, after the other groups were completed
     */
    async completeDue() {
      /** @type {unknown[]} */
      const failures = [];
      for (let group = 0; group < groups && !steps.stopped; group++) {
        await completeIfDue(group).catch((error) => failures.push(error));
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** Checks for closed hours periodically. */
export class CompletionLoop {
  #completeDue;
  #steps;
  #pauseMs;
  #logger;
  #target;
  #onFailure;
  #throttle = new LogThrottle();
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  #round = Promise.resolve();

  /**
   * @param {object} deps
   * @param {() => Promise<void>} deps.completeDue
   * @param {Steps} deps.steps used only by this loop, and stopped with it
   * @param {number} deps.pauseMs mean pause between two checks
   * @param {Logger} deps.logger
   * @param {string} deps.target name of the completed target in the log
   * @param {() => void} [deps.onFailure]
   */
  constructor({ completeDue, steps, pauseMs, logger, target, onFailure = () => {} }) {
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

  /** Stops: no further step begins. @returns {Promise<void>} settles when the check under way has ended */
  stop() {
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
