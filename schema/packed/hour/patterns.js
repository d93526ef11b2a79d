import { zeros } from './integers.js';

/** @import { Integers } from './integers.js' */

/**
 * Doubles as the 64 bits that they are: between neighbours of one sign and magnitude a difference of bits is a difference
 * of values. And singles, as the doubles that every float32 becomes, by their 32 bits.
 */

/** @param {Float64Array} values @returns {Integers} their bits in binary64 */
export function bitsOf(values) {
  const integers = zeros(values.length);
  const view = new DataView(new ArrayBuffer(8));
  for (let i = 0; i < values.length; i++) {
    view.setFloat64(0, /** @type {number} */ (values[i]));
    integers.hi[i] = view.getInt32(0);
    integers.lo[i] = view.getInt32(4);
  }
  return integers;
}

/** @param {Integers} integers @returns {Float64Array} */
export function fromBits({ hi, lo }) {
  const values = new Float64Array(hi.length);
  const view = new DataView(new ArrayBuffer(8));
  for (let i = 0; i < hi.length; i++) {
    view.setInt32(0, /** @type {number} */ (hi[i]));
    view.setInt32(4, /** @type {number} */ (lo[i]));
    values[i] = view.getFloat64(0);
  }
  return values;
}

/** @param {Float64Array} values @returns {Integers | undefined} their bits in binary32, as signed numbers; none where any needs more */
export function singleBitsOf(values) {
  if (!values.every((value) => Math.fround(value) === value)) return undefined;
  const integers = zeros(values.length);
  integers.lo.set(new Int32Array(new Float32Array(values).buffer));
  for (let i = 0; i < values.length; i++) integers.hi[i] = /** @type {number} */ (integers.lo[i]) >> 31;
  return integers;
}

/** @param {Integers} integers @returns {Float64Array} */
export const fromSingleBits = ({ lo }) => new Float64Array(new Float32Array(lo.slice().buffer));
