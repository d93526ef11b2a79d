/**
 * 64-bit integers in two's complement, as upper and lower halves. BigInts are not used, because each operation creates an object. Also,
 * the compiler of V8 11.3 (Node 20) crashed the process in a loop with BigInt.asUintN.
 *
 * @typedef {{ hi: Int32Array, lo: Int32Array }} Integers
 * @typedef {readonly [hi: number, lo: number]} Wide a single 64-bit integer
 */

const WORD = 2 ** 32;

/** @param {number} length @returns {Integers} zeros */
export const zeros = (length) => ({ hi: new Int32Array(length), lo: new Int32Array(length) });

/** @param {ArrayLike<number>} numbers integers from -2^53 to 2^53 @returns {Integers} */
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

/** @param {Integers} integers @returns {Float64Array} exact from -2^53 to 2^53 */
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

/** @param {Wide} a @param {Wide} b @returns {Wide} a - b modulo 2^64 */
export const minus = ([high, low], [lessHigh, lessLow]) => [
  (high - lessHigh - (low >>> 0 < lessLow >>> 0 ? 1 : 0)) | 0,
  (low - lessLow) | 0,
];

/** Compares two numbers, for `sort`. @param {Wide} a @param {Wide} b */
export const byWidth = (a, b) => a[0] - b[0] || (a[1] >>> 0) - (b[1] >>> 0);

/**
 * Computes the difference of each number from its prediction, modulo 2^64, and encodes it as an unsigned code (zigzag): 0 -1 1 -2 2 become
 * 0 1 2 3 4. One loop does both steps, because after deflate this loop takes the most time of packing.
 *
 * @param {Integers} integers
 * @param {number} order the prediction of a number. 0: `start`. 1: the number before it. 2: the number before it plus the last difference
 * @param {Wide} start with order 0 the prediction of all numbers, otherwise the predecessor of the first number
 * @param {Wide} [slope] with order 2 the difference before the first number
 * @returns {{ codes: Integers, bits: number }} `bits`: number of bits of the greatest code
 */
export function codesOf({ hi, lo }, order, start, slope = [0, 0]) {
  const codes = zeros(hi.length);
  let [high, low] = start;
  let [slopeHigh, slopeLow] = slope;
  let [anyHigh, anyLow] = [0, 0];
  for (let i = 0; i < hi.length; i++) {
    const ownHigh = /** @type {number} */ (hi[i]);
    const own = /** @type {number} */ (lo[i]);
    let far = (own - low) | 0;
    let farHigh = (ownHigh - high - (own >>> 0 < low >>> 0 ? 1 : 0)) | 0;
    if (order > 0) {
      high = ownHigh;
      low = own;
    }
    if (order > 1) {
      const [stepHigh, step] = [farHigh, far];
      farHigh = (stepHigh - slopeHigh - (step >>> 0 < slopeLow >>> 0 ? 1 : 0)) | 0;
      far = (step - slopeLow) | 0;
      slopeHigh = stepHigh;
      slopeLow = step;
    }
    const sign = farHigh >> 31;
    const codeHigh = ((farHigh << 1) | (far >>> 31)) ^ sign;
    const code = (far << 1) ^ sign;
    codes.hi[i] = codeHigh;
    codes.lo[i] = code;
    anyHigh |= codeHigh;
    anyLow |= code;
  }
  return { codes, bits: anyHigh === 0 ? 32 - Math.clz32(anyLow) : 64 - Math.clz32(anyHigh) };
}

/**
 * Adds `start` to each number, in place.
 *
 * @param {Integers} integers
 * @param {Wide} start
 * @param {boolean} running whether all preceding numbers are added to each number, too (a running sum)
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

/** Decodes the codes of `codesOf` to signed numbers, in place: 0 1 2 3 4 become 0 -1 1 -2 2. @param {Integers} integers */
export function unzigzag({ hi, lo }) {
  for (let i = 0; i < hi.length; i++) {
    const high = /** @type {number} */ (hi[i]);
    const low = /** @type {number} */ (lo[i]);
    const sign = -(low & 1);
    hi[i] = (high >>> 1) ^ sign;
    lo[i] = ((low >>> 1) | (high << 31)) ^ sign;
  }
}
