/** Brings any sum of fewer than 2^64 doubles back among the finite ones; a power of two, so that no digit is lost. */
const SCALE = 2 ** 64;

/**
 * The sum with what rounding took away from it added again (Neumaier): its error does not grow with the number of values,
 * where a plain sum of large values of both signs may have no right digit left.
 *
 * @param {Iterable<number>} values finite
 * @returns {number} infinite only where the sum itself is beyond a double, not where it was so on the way
 */
export function sumOf(values) {
  const sum = compensated(values, 1);
  return Number.isFinite(sum) ? sum : compensated(values, 1 / SCALE) * SCALE;
}

/** @param {Iterable<number>} values @param {number} factor */
function compensated(values, factor) {
  let sum = 0;
  let lost = 0;
  for (const given of values) {
    const value = given * factor;
    const next = sum + value;
    // Of the two, the smaller one lost digits.
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
  }
  return sum + lost;
}
