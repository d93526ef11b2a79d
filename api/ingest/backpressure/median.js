/**
 * @param {number[]} numbers at least one, in any order
 * @returns {number} the middle one; of an even number the upper of the two
 */
export const medianOf = (numbers) =>
  /** @type {number} */ (Float64Array.from(numbers).sort()[numbers.length >> 1]);
