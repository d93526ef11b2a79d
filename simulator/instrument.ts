import { writeFileSync } from 'node:fs';
import { MillraceError } from '../common/errors.js';

/** @import { Meter, Period } from './meter.js' */

/** Length of a period whose latencies are summarized, in ms. */
const PERIOD_MS = 10_000;

/** Collects the figures of every ten seconds for `--report`, and passes them to `onPeriod` at the end of each period. */
export class Instrument {
  #meter;
  #path;
  #onPeriod;
  /** @type {Period[]} */
  #periods = [];
  /** @type {NodeJS.Timeout | undefined} */
  #timer;

  /**
   * @param {object} options
   * @param {Meter} options.meter
   * @param {string | undefined} options.path path of the report; undefined: no report is written
   * @param {(period: Period) => void} options.onPeriod
   */
  constructor({ meter, path, onPeriod }) {
    this.#meter = meter;
    this.#path = path;
    this.#onPeriod = onPeriod;
  }

  /** Starts the first period. */
  start() {
    this.#meter.begin();
    this.#timer = setInterval(() => this.#onPeriod(this.#endPeriod()), PERIOD_MS);
  }

  /** Stops the periods. */
  stop() {
    clearInterval(this.#timer);
  }

  /**
   * Writes the report: the options of the run, its totals, and the figures of every ten seconds. Latencies are in ms.
   *
   * @param {Record<string, unknown>} run options of the run
   * @throws {MillraceError} `failed` when the report cannot be written
   */
  write(run) {
    if (this.#path === undefined) return;
    this.#endPeriod();
    try {
      writeFileSync(
        this.#path,
        `${JSON.stringify({ ...run, ...this.#meter.totals(), periods: this.#periods }, null, 2)}\n`,
      );
    } catch (error) {
      const { message } = /** @type {Error} */ (error);
      throw new MillraceError('failed', `The report ${this.#path} cannot be written: ${message}`, {
        cause: error,
      });
    }
  }

  #endPeriod() {
    const period = this.#meter.endPeriod();
    if (this.#path !== undefined) this.#periods.push(period);
    return period;
  }
}
