/** @import { Aggregate, Bins } from '../../history/reading/bins.js' */
/** @import { Grid } from '../../history/reading/grid.js' */

/** The steps of a query: `start`, `start + step` and so on until `end`, all in epoch ms. @typedef {{ start: number, end: number, step: number }} Steps */

/**
 * The windows of a query: one for each step. A window begins `windowMs` before its step, and does not include the step. Windows may
 * overlap, so each consists of whole bins. A bin begins or ends where a window does: if the window is no multiple of the step, each
 * step has two bins.
 *
 *     bins      |..|.|..|.|..|.|..|
 *     windows   [--------)
 *                    [--------)       window: 8; step: 5, which is a bin of 3 and a bin of 2
 */
export class Windows {
  #steps;
  /** Width of the first of the two bins of a step, in ms; 0: a step has one bin. */
  #rest;
  #binsPerStep;
  #binsPerWindow;

  /** @param {Steps} steps @param {number} windowMs */
  constructor({ start, end, step }, windowMs) {
    /** Number of steps. */
    this.length = Math.floor((end - start) / step) + 1;
    // With one step, the window is the only bin.
    this.#steps = { start, step: this.length === 1 ? windowMs : step };
    this.#rest = windowMs % this.#steps.step;
    this.#binsPerStep = this.#rest ? 2 : 1;
    this.#binsPerWindow = Math.floor(windowMs / this.#steps.step) * this.#binsPerStep + (this.#rest ? 1 : 0);
    /** The instants that the windows cover, in epoch ms; the end is not included. */
    this.range = { from: start - windowMs, to: start + (this.length - 1) * step };
    /** Number of bins of a series. */
    this.bins = (this.length - 1) * this.#binsPerStep + this.#binsPerWindow;
    /** Number of additions of bins to the windows of a series. */
    this.additions = this.length * this.#binsPerWindow;
  }

  /** @returns {Grid} the bins of all windows */
  grid() {
    const { from } = this.range;
    const { step } = this.#steps;
    const rest = this.#rest;
    return {
      length: this.bins,
      narrowest: Math.max(rest, step - rest),
      indexOf(ts) {
        const index = Math.floor((ts - from) / step);
        return rest === 0 ? index : 2 * index + (ts - from - index * step >= rest ? 1 : 0);
      },
      startOf: (index) => from + (rest === 0 ? index * step : (index >> 1) * step + (index & 1) * rest),
    };
  }

  /** @param {number} index @returns {number} the instant of a step, in epoch ms */
  timeOf(index) {
    return this.#steps.start + index * this.#steps.step;
  }

  /**
   * @param {Bins} bins of `grid`
   * @param {Aggregate} aggregate
   * @returns {Array<number | null>} for each window; null: no sample, or a sum that is too large for a double
   */
  valuesOf(bins, aggregate) {
    const counts = /** @type {number[]} */ (bins.column('count'));
    const column = aggregate === 'count' ? counts : bins.column(aggregate);
    return Array.from({ length: this.length }, (_, step) => {
      const first = step * this.#binsPerStep;
      return this.#valueOf({ first, counts, column, aggregate });
    });
  }

  /** @param {{ first: number, counts: number[], column: Array<number | null>, aggregate: Aggregate }} window `first`: index of its first bin */
  #valueOf({ first, counts, column, aggregate }) {
    let [total, result] = [0, /** @type {number | null} */ (null)];
    for (let bin = first; bin < first + this.#binsPerWindow; bin++) {
      const count = Number(counts[bin]);
      if (count === 0) continue;
      const value = column[bin] ?? null;
      if (value === null) return null;
      result = mergeAggregates(aggregate, { result, total, value, count });
      total += count;
    }
    return finite(result);
  }
}

/**
 * Merges the aggregates of two sets of samples, of which the second is later.
 *
 * @param {Aggregate} aggregate
 * @param {{ result: number | null, total: number, value: number, count: number }} samples `result`, `total`: aggregate and number
 *   of the samples before; `value`, `count`: of the samples to merge
 */
function mergeAggregates(aggregate, { result, total, value, count }) {
  if (result === null) return value;
  switch (aggregate) {
    case 'avg':
      return average(
        result * total + value * count,
        total + count,
        () => result * (total / (total + count)) + value * (count / (total + count)),
      );
    case 'min':
      return Math.min(result, value);
    case 'max':
      return Math.max(result, value);
    case 'first':
      return result;
    case 'last':
      return value;
    default:
      return result + value;
  }
}

/**
 * @param {number} sum
 * @param {number} count
 * @param {() => number} ofParts computes the average from smaller parts, less exactly
 */
export const average = (sum, count, ofParts) => (Number.isFinite(sum) ? sum / count : ofParts());

/** @param {number | null} value @returns {number | null} null: too large for a double */
export const finite = (value) => (Number.isFinite(value) ? value : null);
