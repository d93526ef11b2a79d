import { writeFileSync } from 'node:fs';
import { MillraceError } from '../common/errors.js';

/** @import { Meter, Period } from './meter.js' */

/** How often the latencies are summed up. */
const PERIOD_MS = 10_000;

/**
 * Keeps the figures of each ten seconds, for `--report`, and hands each of them out as it ends.
 *
 * @param {object} options
 * @param {Meter} options.meter
 * @param {string | undefined} options.path of the report; none: nothing is kept
 * @param {(period: Period) => void} options.onPeriod
 */
export function createInstrument({ meter, path, onPeriod }) {
  /** @type {Period[]} */
  const periods = [];
  const endPeriod = () => {
    const period = meter.endPeriod();
    if (path !== undefined) periods.push(period);
    return period;
  };
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  return {
    start() {
      meter.begin();
      timer = setInterval(() => onPeriod(endPeriod()), PERIOD_MS);
    },
    stop: () => clearInterval(timer),

    /**
     * Writes the report: what ran, what became of it in all and every ten seconds; latencies in ms.
     *
     * @param {Record<string, unknown>} run what ran
     * @throws {MillraceError} `failed` when it cannot be written
     */
    write(run) {
      if (path === undefined) return;
      endPeriod();
      try {
        writeFileSync(path, `${JSON.stringify({ ...run, ...meter.totals(), periods }, null, 2)}\n`);
      } catch (error) {
        const { message } = /** @type {Error} */ (error);
        throw new MillraceError('failed', `The report ${path} cannot be written: ${message}`, {
          cause: error,
        });
      }
    },
  };
}
