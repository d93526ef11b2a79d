/**
 * The samples of a chart: two arrays of equal length, oldest first, one sample an instant.
 *
 * @typedef {{ ts: number[], value: number[] }} Samples `ts` in epoch ms
 * @typedef {{ count: number, min: number | null, max: number | null, avg: number | null }} Statistics
 */

/** @returns {Samples} */
export const noSamples = () => ({ ts: [], value: [] });

/**
 * The union of what is held and of a page; for an instant that both have, the page is right.
 *
 * @param {Samples} held
 * @param {import('../api/types.js').Measurement[]} page newest first, as the API gives it
 * @returns {Samples}
 */
export function mergeSamples(held, page) {
  if (page.length === 0) return held;
  const merged = noSamples();
  let left = 0;
  let right = page.length - 1;
  while (left < held.ts.length || right >= 0) {
    const a = held.ts[left] ?? Number.POSITIVE_INFINITY;
    const measurement = page[right];
    const b = measurement ? Date.parse(measurement.ts) : Number.POSITIVE_INFINITY;
    if (measurement && b <= a) {
      merged.ts.push(b);
      merged.value.push(measurement.value);
      right -= 1;
      if (a === b) left += 1;
    } else {
      merged.ts.push(a);
      merged.value.push(held.value[left] ?? Number.NaN);
      left += 1;
    }
  }
  return merged;
}

/**
 * @param {Samples} samples
 * @param {number} from epoch ms
 * @returns {number} index of the first sample at or after `from`
 */
export function firstAtOrAfter({ ts }, from) {
  let low = 0;
  let high = ts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ts[middle] ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @param {Samples} samples @param {number} from @param {number} to half-open, epoch ms @returns {Samples} */
export function between(samples, from, to) {
  const first = firstAtOrAfter(samples, from);
  const end = firstAtOrAfter(samples, to);
  if (first === 0 && end === samples.ts.length) return samples;
  return { ts: samples.ts.slice(first, end), value: samples.value.slice(first, end) };
}

/** @param {Samples} samples @returns {Statistics} */
export function statisticsOf({ value }) {
  if (value.length === 0) return { count: 0, min: null, max: null, avg: null };
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let sum = 0;
  for (const one of value) {
    min = Math.min(min, one);
    max = Math.max(max, one);
    sum += one;
  }
  return { count: value.length, min, max, avg: sum / value.length };
}

/**
 * A line must not claim what nobody measured: where samples are further apart than `gapMs`, it is broken.
 *
 * @param {Samples} samples
 * @param {number | null} gapMs null: unknown interval, no gaps
 * @returns {[number[], (number | null)[]]} x and y as uPlot takes them
 */
export function withGaps({ ts, value }, gapMs) {
  /** @type {number[]} */
  const x = [];
  /** @type {(number | null)[]} */
  const y = [];
  for (const [index, at] of ts.entries()) {
    const before = ts[index - 1];
    if (gapMs !== null && before !== undefined && at - before > gapMs) {
      x.push(before + 1);
      y.push(null);
    }
    x.push(at);
    y.push(value[index] ?? null);
  }
  return [x, y];
}
