import type { Aggregate, Bins } from '../../history/reading/bins.ts';
import type { Grid } from '../../history/reading/grid.ts';

/** `start`, `start + step` and so on until `end`, all in epoch ms. */
type Steps = { start: number; end: number; step: number };

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
  declare length: number;
  declare range: { from: number; to: number };
  declare bins: number;
  declare additions: number;

  #steps;
  /** Width in ms of the first of the two bins of a step; 0: a step has one bin. */
  #rest;
  #binsPerStep;
  #binsPerWindow;

  constructor({ start, end, step }: Steps, windowMs: number) {
    this.length = Math.floor((end - start) / step) + 1;
    // With one step, the window is the only bin.
    this.#steps = { start, step: this.length === 1 ? windowMs : step };
    this.#rest = windowMs % this.#steps.step;
    this.#binsPerStep = this.#rest ? 2 : 1;
    this.#binsPerWindow = Math.floor(windowMs / this.#steps.step) * this.#binsPerStep + (this.#rest ? 1 : 0);
    /** In epoch ms; the end is not included. */
    this.range = { from: start - windowMs, to: start + (this.length - 1) * step };
    this.bins = (this.length - 1) * this.#binsPerStep + this.#binsPerWindow;
    /** How often a bin is added to a window, for one series. */
    this.additions = this.length * this.#binsPerWindow;
  }

  grid(): Grid {
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

  timeOf(index: number): number {
    return this.#steps.start + index * this.#steps.step;
  }

  /** `bins`: of `grid`. Null: no sample, or a sum that is too large for a double. */
  valuesOf(bins: Bins, aggregate: Aggregate): Array<number | null> {
    const counts = bins.column('count') as number[];
    const column = aggregate === 'count' ? counts : bins.column(aggregate);
    return Array.from({ length: this.length }, (_, step) => {
      const first = step * this.#binsPerStep;
      return this.#valueOf({ first, counts, column, aggregate });
    });
  }

  /** `first`: index of the window's first bin. */
  #valueOf({
    first,
    counts,
    column,
    aggregate,
  }: {
    first: number;
    counts: number[];
    column: Array<number | null>;
    aggregate: Aggregate;
  }) {
    let [total, result] = [0, null as number | null];
    for (let bin = first; bin < first + this.#binsPerWindow; bin++) {
      const count = Number(counts[bin]);
      if (count === 0) continue;
      const value = column[bin] ?? null;
      if (value === null) return null;
      result = mergeAggregates(aggregate, { result, total, value, count });
      total += count;
    }
    return finiteOrNull(result);
  }
}

/** `result` and `total` are the aggregate and number of the samples before; `value` and `count` are those of later samples. */
function mergeAggregates(
  aggregate: Aggregate,
  { result, total, value, count }: { result: number | null; total: number; value: number; count: number },
) {
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

/** `ofParts` computes the average from smaller parts, less exactly. */
export const average = (sum: number, count: number, ofParts: () => number) =>
  Number.isFinite(sum) ? sum / count : ofParts();

/** Null: too large for a double. */
export const finiteOrNull = (value: number | null): number | null => (Number.isFinite(value) ? value : null);
