/**
 * A number as JSON, exactly: `JSON.stringify` writes -0 as 0, which is another double with another row.
 *
 * @param {number} value finite
 */
export const numberText = (value) => (Object.is(value, -0) ? '-0' : String(value));
