/** What the upper half of a 64-bit integer counts. */
const HIGH = 2 ** 32;

/** From here on, 2^53, two integers may be one double; as an upper half. */
const INEXACT_HIGH = 2 ** 21;

/** A 64-bit integer in two halves. @typedef {ReturnType<import('protobufjs').Reader['uint64']>} Long */

/** @param {Long} long @returns {number} read as an unsigned integer: the nearest double */
export const unsigned = ({ high, low }) => (high >>> 0) * HIGH + (low >>> 0);

/** @param {Long} long @returns {number} read as two's complement: the nearest double */
export const signed = ({ high, low }) => (high | 0) * HIGH + (low >>> 0);

/**
 * @param {Long} long
 * @returns {number | string} the same for the same integer, different for different ones: some nodes hash names to
 *   aliases of 64 bits
 */
export function exactKey(long) {
  const high = long.high >>> 0;
  return high < INEXACT_HIGH ? unsigned(long) : String(BigInt(high) * BigInt(HIGH) + BigInt(long.low >>> 0));
}
