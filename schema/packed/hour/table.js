/**
 * The different values where these are few: readings of a converter of 4,096 steps, by whatever formula.
 *
 * @typedef {{ table: Float64Array, indexes: Float64Array }} Table `table`: ascending, so that near values have near indexes
 */

/** A table of more than this part of the samples is not worth it. */
const MOST = 1 / 4;

/** @param {Float64Array} values @returns {Table | undefined} */
export function tableOf(values) {
  /** @type {Set<number>} */
  const different = new Set();
  for (const value of values) {
    // Sets take 0 and -0, and any two NaN, for the same.
    if (Object.is(value, -0) || Number.isNaN(value)) return undefined;
    if (different.add(value).size > values.length * MOST) return undefined;
  }
  const table = Float64Array.from(different).sort();
  const indexOf = new Map(Array.from(table, (value, index) => [value, index]));
  return { table, indexes: values.map((value) => /** @type {number} */ (indexOf.get(value))) };
}
