/**
 * Whole numbers of 64 bits, two's complement, as their upper and lower halves. Not as BigInts: each step with one makes an
 * object, and the compiler of V8 11.3 (Node 20) was seen to end the process over a loop with BigInt.asUintN.
 *
 * @typedef {{ hi: Int32Array, lo: Int32Array }} Integers
 * @typedef {readonly [hi: number, lo: number]} Wide one such number
 */

const WORD = 2 ** 32;

/** @param {number} length @returns {Integers} zeros */
export const zeros = (length) => ({ hi: new Int32Array(length), lo: new Int32Array(length) });

/** @param {ArrayLike<number>} numbers whole ones, at most 2^53 either way @returns {Integers} */
export function fromNumbers(numbers) {
  const integers = zeros(numbers.length);
  const { hi, lo } = integers;
  for (let i = 0; i < hi.length; i++) {
    const number = /** @type {number} */ (numbers[i]);
    lo[i] = number;
    hi[i] = Math.floor(number / WORD);
  }
  return integers;
}

/** @param {Integers} integers @returns {Float64Array} exact up to 2^53 either way */
export function toNumbers({ hi, lo }) {
  const numbers = new Float64Array(hi.length);
  for (let i = 0; i < hi.length; i++) {
    const low = /** @type {number} */ (lo[i]);
    numbers[i] = /** @type {number} */ (hi[i]) * WORD + (low >>> 0);
  }
  return numbers;
}

/** @param {Integers} integers @param {number} index @returns {Wide} */
export const at = ({ hi, lo }, index) => [Number(hi[index]), Number(lo[index])];

/** @param {Wide} a @param {Wide} b @returns {Wide} modulo 2^64 */
export const minus = ([high, low], [lessHigh, lessLow]) => [
  (high - lessHigh - (low >>> 0 < lessLow >>> 0 ? 1 : 0)) | 0,
  (low - lessLow) | 0,
];

/** @param {Wide} a @param {Wide} b by size, for sorting */
export const byWidth = (a, b) => a[0] - b[0] || (a[1] >>> 0) - (b[1] >>> 0);

/**
 * @param {Integers} integers
 * @param {Wide} reference
 * @returns {Integers} how far each is from the reference, modulo 2^64
 */
export function distances({ hi, lo }, [high, low]) {
  const out = zeros(hi.length);
  for (let i = 0; i < hi.length; i++) {
    const own = /** @type {number} */ (lo[i]);
    out.lo[i] = own - low;
    out.hi[i] = /** @type {number} */ (hi[i]) - high - (own >>> 0 < low >>> 0 ? 1 : 0);
  }
  return out;
}

/**
 * @param {Integers} integers
 * @param {Wide} before stands before the first
 * @returns {Integers} how far each is from the one before it, modulo 2^64
 */
export function differences({ hi, lo }, before) {
  const out = zeros(hi.length);
  let [high, low] = before;
  for (let i = 0; i < hi.length; i++) {
    const ownHigh = /** @type {number} */ (hi[i]);
    const own = /** @type {number} */ (lo[i]);
    out.lo[i] = own - low;
    out.hi[i] = ownHigh - high - (own >>> 0 < low >>> 0 ? 1 : 0);
    high = ownHigh;
    low = own;
  }
  return out;
}

/**
 * Undoes `distances` (`each` from the reference) or `differences` (each from the one before it) in place.
 *
 * @param {Integers} integers
 * @param {Wide} start the reference, or what stands before the first
 * @param {boolean} running each counts from the one before it
 */
export function addUp({ hi, lo }, start, running) {
  let [high, low] = start;
  for (let i = 0; i < hi.length; i++) {
    const own = /** @type {number} */ (lo[i]);
    const ownHigh = /** @type {number} */ (hi[i]);
    const sum = (own + low) | 0;
    const sumHigh = (ownHigh + high + (sum >>> 0 < low >>> 0 ? 1 : 0)) | 0;
    lo[i] = sum;
    hi[i] = sumHigh;
    if (running) {
      high = sumHigh;
      low = sum;
    }
  }
}

/** Lets small numbers of both signs have small codes: 0 -1 1 -2 2 become 0 1 2 3 4. In place. @param {Integers} integers */
export function zigzag({ hi, lo }) {
  for (let i = 0; i < hi.length; i++) {
    const high = /** @type {number} */ (hi[i]);
    const low = /** @type {number} */ (lo[i]);
    const sign = high >> 31;
    hi[i] = ((high << 1) | (low >>> 31)) ^ sign;
    lo[i] = (low << 1) ^ sign;
  }
}

/** Undoes `zigzag` in place. @param {Integers} integers */
export function unzigzag({ hi, lo }) {
  for (let i = 0; i < hi.length; i++) {
    const high = /** @type {number} */ (hi[i]);
    const low = /** @type {number} */ (lo[i]);
    const sign = -(low & 1);
    hi[i] = (high >>> 1) ^ sign;
    lo[i] = ((low >>> 1) | (high << 31)) ^ sign;
  }
}
