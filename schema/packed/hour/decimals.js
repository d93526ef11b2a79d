import { fromNumbers, toNumbers } from './integers.js';

/** @import { Integers } from './integers.js' */

/**
 * Sensors mostly send a whole number of tenths, hundredths or thousandths, written as the double nearest to it. That
 * whole number, divided again, gives the same double, bit by bit. Some round to single precision on the way.
 */

/** With more digits, a full double counts as a decimal by chance, and saves no bytes. */
export const MOST_DIGITS = 12;

/** Division by a power of ten is rounded correctly as long as both numbers are exact. */
const MOST = 2 ** 53;

/**
 * @typedef {object} Decimals
 * @property {number} digits behind the point
 * @property {number[] | Float64Array} minusZeros indexes of `-0`, which is no whole number; displays and printf write it as `-0.00`
 * @property {Integers} integers the values times 10^digits
 */

/**
 * @param {Float64Array} values
 * @param {boolean} single they were rounded to binary32
 * @returns {Decimals | undefined} none where any value is no decimal
 */
export function asDecimals(values, single) {
  for (let digits = 0; digits <= MOST_DIGITS; digits++) {
    const scaled = single ? scaledSingles(values, 10 ** digits) : scaledDoubles(values, 10 ** digits);
    if (scaled) return { digits, minusZeros: minusZerosOf(values), integers: fromNumbers(scaled) };
  }
  return undefined;
}

// The loop exists twice: with a rounding function as a parameter it took three times as long.

/** @param {Float64Array} values @param {number} power of ten */
function scaledDoubles(values, power) {
  const scaled = new Float64Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = /** @type {number} */ (values[i]);
    const whole = Math.round(value * power);
    if (!(Math.abs(whole) <= MOST && whole / power === value)) return undefined;
    scaled[i] = whole;
  }
  return scaled;
}

/** @param {Float64Array} values @param {number} power of ten */
function scaledSingles(values, power) {
  const scaled = new Float64Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = /** @type {number} */ (values[i]);
    const whole = Math.round(value * power);
    if (!(Math.abs(whole) <= MOST && Math.fround(whole / power) === value)) return undefined;
    scaled[i] = whole;
  }
  return scaled;
}

/** @param {Float64Array} values */
function minusZerosOf(values) {
  const indexes = [];
  for (let i = 0; i < values.length; i++) if (Object.is(values[i], -0)) indexes.push(i);
  return indexes;
}

/**
 * @param {Decimals} decimals
 * @param {boolean} single
 * @returns {Float64Array}
 */
export function fromDecimals({ digits, minusZeros, integers }, single) {
  const values = toNumbers(integers);
  const power = 10 ** digits;
  for (let i = 0; i < values.length; i++) values[i] = /** @type {number} */ (values[i]) / power;
  for (const index of minusZeros) values[index] = -0;
  return single ? new Float64Array(new Float32Array(values)) : values;
}
