import { writeFileSync } from 'node:fs';
import { MillraceError } from '../common/errors.ts';
import type { Meter, Period } from './meter.ts';

const PERIOD_MS = 10_000;

/** Collects the figures of every period for `--report`. */
export class Instrument {
  #meter;
  #path;
  #onPeriod;
  #periods: Period[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor({
    meter,
    path,
    onPeriod,
  }: {
    meter: Meter;
    /** undefined: no report is written */
    path: string | undefined;
    onPeriod: (period: Period) => void;
  }) {
    this.#meter = meter;
    this.#path = path;
    this.#onPeriod = onPeriod;
  }

  start() {
    this.#meter.begin();
    this.#timer = setInterval(() => this.#onPeriod(this.#endPeriod()), PERIOD_MS);
  }

  stop() {
    clearInterval(this.#timer);
  }

  /**
   * The options of the run, its totals, and the figures of every period. Latencies are in ms.
   * @throws `failed` when the report cannot be written
   */
  write(run: Record<string, unknown>) {
    if (this.#path === undefined) return;
    this.#endPeriod();
    try {
      writeFileSync(
        this.#path,
        `${JSON.stringify({ ...run, ...this.#meter.totals(), periods: this.#periods }, null, 2)}\n`,
      );
    } catch (error) {
      const { message } = error as Error;
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
