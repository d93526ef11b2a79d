const FIRST_MS = 500;
const LONGEST_MS = 15_000;

/**
 * How long to wait before the next attempt: doubled each time and jittered, so that a thousand devices do not come back
 * to a broker in the same instant.
 *
 * @param {number} failures in a row, 0 for none
 * @param {() => number} [random] in [0, 1)
 * @returns {number} ms
 */
export function backoffMs(failures, random = Math.random) {
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures, 10));
  return longest * (0.5 + random() / 2);
}
