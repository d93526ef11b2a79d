import { bucketOf, HOUR_MS } from '../../../schema/rules.js';

/** After so many letters a summary ends with the hour that it is in: what is older is another request's. */
const MOST_LETTERS = 100_000;

/** @typedef {import('./reads.js').Range} Range */

/**
 * What was refused in one hour.
 *
 * @typedef {{ hour: number, letters: number, codes: Record<string, number> }} HourCount `hour` in epoch ms; `codes` are
 *   refused measurements by code
 */

/**
 * Counts by code and hour, the newest hour first; hours without a letter are left out.
 *
 * @param {(range: Range, onHead: (head: import('./reads.js').Head) => void) => Promise<void>} scanHour
 * @param {Range} range
 * @param {{ onHour?: (hour: number) => void, mostLetters?: number }} [options] `onHour` is told where it is, in epoch ms
 * @returns {Promise<{ hours: HourCount[], from: number }>} `from`, in epoch ms: what the counts begin with, later than
 *   the range where that holds too much
 */
export async function summarizeLetters(scanHour, range, { onHour, mostLetters = MOST_LETTERS } = {}) {
  /** @type {HourCount[]} */
  const hours = [];
  let read = 0;
  for (const part of hoursOf(range)) {
    if (read >= mostLetters) return { hours, from: part.to };
    const hour = bucketOf(part.from);
    onHour?.(hour);
    /** @type {HourCount} */
    const count = { hour, letters: 0, codes: {} };
    await scanHour(part, ({ codes }) => {
      count.letters++;
      addCodes(count.codes, codes);
    });
    if (count.letters > 0) hours.push(count);
    read += count.letters;
  }
  return { hours, from: range.from };
}

/**
 * The parts of a range that lie in one hour each, lazily.
 *
 * @param {Range} range
 * @param {'newest' | 'oldest'} [first]
 * @returns {Generator<Range, void>}
 */
export function* hoursOf({ from, to }, first = 'newest') {
  if (from >= to) return;
  const [oldest, newest] = [bucketOf(from), bucketOf(to - 1)];
  for (let done = 0; done <= newest - oldest; done += HOUR_MS) {
    const hour = first === 'newest' ? newest - done : oldest + done;
    yield { from: Math.max(from, hour), to: Math.min(to, hour + HOUR_MS) };
  }
}

/** @param {Record<string, number>} sum is changed @param {Record<string, number>} codes */
export function addCodes(sum, codes) {
  for (const [code, count] of Object.entries(codes)) sum[code] = (sum[code] ?? 0) + count;
}
