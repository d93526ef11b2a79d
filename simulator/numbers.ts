/**
 * Writes a number as exact JSON. `JSON.stringify` writes -0 as 0, which is another double and would be another stored value.
 *
 * @param {number} value finite
 */
export const numberText = (value) => (Object.is(value, -0) ? '-0' : String(value));
