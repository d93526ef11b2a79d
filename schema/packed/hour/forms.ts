import { varint } from './bytes.js';
import { columnOf, packColumn, unpackColumn } from './column.js';
import { asDecimals, fromDecimals, MOST_DIGITS } from './decimals.js';
import { fromNumbers, toNumbers, zeros } from './integers.js';

/** @import { Column } from './column.js' */
/** @import { Integers } from './integers.js' */
/** @import { Reader } from './bytes.js' */

/** The encodings (forms) of the values. The second byte of a blob names the form. */
export const FORMS = /** @type {const} */ ({
  bits: 0,
  singleBits: 1,
  decimals: 2,
  singleDecimals: 3,
  table: 4,
});

/** @typedef {{ form: number, parts: () => Uint8Array[], estimate: number }} Tried */

/**
 * Packs the values in the form that probably takes the fewest bytes.
 *
 * @param {Float64Array} values at least one value
 * @returns {{ form: number, parts: Uint8Array[] }}
 */
export function packValues(values) {
  // Decimals are tried first: nearly all sensors send decimal fractions, and all other forms are much larger for them.
  const { form, parts } = decimals(values, false) ?? smallest(values);
  return { form, parts: parts() };
}

/** @param {Float64Array} values @returns {Tried} */
function smallest(values) {
  const singles = singleBitsOf(values);
  let best = singles
    ? tried(FORMS.singleBits, columnOf(singles))
    : tried(FORMS.bits, columnOf(bitsOf(values)));
  for (const other of [singles && decimals(values, true), table(values)]) {
    if (other && other.estimate < best.estimate) best = other;
  }
  return best;
}

/** @param {Float64Array} values @param {boolean} single @returns {Tried | undefined} */
function decimals(values, single) {
  const found = asDecimals(values, single);
  if (!found) return undefined;
  const { digits, minusZeros, integers } = found;
  const zeros = minusZeros.length > 0 ? [columnOf(fromNumbers(minusZeros))] : [];
  const form = single ? FORMS.singleDecimals : FORMS.decimals;
  const { estimate, parts } = tried(form, ...zeros, columnOf(integers));
  return { form, estimate, parts: () => [varint(digits), varint(minusZeros.length), ...parts()] };
}

/** @param {Float64Array} values @returns {Tried | undefined} */
function table(values) {
  const found = tableOf(values);
  if (!found) return undefined;
  const columns = [columnOf(bitsOf(found.table)), columnOf(fromNumbers(found.indexes))];
  const { form, estimate, parts } = tried(FORMS.table, ...columns);
  return { form, estimate, parts: () => [varint(found.table.length), ...parts()] };
}

/** @param {number} form @param {...Column} columns @returns {Tried} */
const tried = (form, ...columns) => ({
  form,
  estimate: columns.reduce((sum, { estimate }) => sum + estimate, 0),
  parts: () => columns.flatMap(packColumn),
});

/**
 * @param {Reader} reader
 * @param {number} form
 * @param {number} count
 * @returns {Float64Array}
 * @throws {RangeError}
 */
export function unpackValues(reader, form, count) {
  switch (form) {
    case FORMS.bits:
      return fromBits(unpackColumn(reader, count));
    case FORMS.singleBits:
      return fromSingleBits(unpackColumn(reader, count));
    case FORMS.decimals:
    case FORMS.singleDecimals:
      return readDecimals(reader, count, form === FORMS.singleDecimals);
    case FORMS.table:
      return readTable(reader, count);
    default:
      throw new RangeError(`packed samples are of form ${form}; this process knows 0 to ${FORMS.table}`);
  }
}

/** @param {Reader} reader @param {number} count @param {boolean} single */
function readDecimals(reader, count, single) {
  const digits = reader.count(MOST_DIGITS);
  const zeros = reader.count(count);
  const minusZeros = zeros > 0 ? readIndexes(reader, zeros, count) : [];
  return fromDecimals({ digits, minusZeros, integers: unpackColumn(reader, count) }, single);
}

/** @param {Reader} reader @param {number} count */
function readTable(reader, count) {
  const size = reader.count(count);
  const table = fromBits(unpackColumn(reader, size));
  return readIndexes(reader, count, size).map((index) => /** @type {number} */ (table[index]));
}

/**
 * @param {Reader} reader
 * @param {number} count
 * @param {number} size number of entries of the array that the indexes refer to
 */
function readIndexes(reader, count, size) {
  const indexes = toNumbers(unpackColumn(reader, count));
  for (const index of indexes) {
    if (!(index >= 0 && index < size))
      throw new RangeError(`packed samples ask for item ${index} of ${size}`);
  }
  return indexes;
}

/**
 * A dictionary of the distinct values, for sensors with few distinct values, such as the 4,096 steps of a 12-bit converter.
 *
 * @typedef {{ table: Float64Array, indexes: Float64Array }} Table `table`: ascending, so that near values have near indexes
 */

/** Maximum number of distinct values in a table, as a fraction of the number of samples. A larger table saves too little. */
const MOST = 1 / 4;

/** @param {Float64Array} values @returns {Table | undefined} */
export function tableOf(values) {
  /** @type {Set<number>} */
  const different = new Set();
  for (const value of values) {
    // A Set treats 0 and -0 as equal, and any two NaN as equal, so a table would lose their bits.
    if (Object.is(value, -0) || Number.isNaN(value)) return undefined;
    if (different.add(value).size > values.length * MOST) return undefined;
  }
  const table = Float64Array.from(different).sort();
  const indexOf = new Map(Array.from(table, (value, index) => [value, index]));
  return { table, indexes: values.map((value) => /** @type {number} */ (indexOf.get(value))) };
}

/**
 * The next functions convert doubles to 64-bit integers by their bits, and float32 values to 32-bit integers. If two values are close and
 * have the same sign and magnitude, the difference of the integers is small, too.
 */

/** @param {Float64Array} values @returns {Integers} the bits of the values in binary64 */
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

/** @param {Float64Array} values @returns {Integers | undefined} their bits in binary32, signed; undefined: a value needs binary64 */
export function singleBitsOf(values) {
  if (!values.every((value) => Math.fround(value) === value)) return undefined;
  const integers = zeros(values.length);
  integers.lo.set(new Int32Array(new Float32Array(values).buffer));
  for (let i = 0; i < values.length; i++) integers.hi[i] = /** @type {number} */ (integers.lo[i]) >> 31;
  return integers;
}

/** @param {Integers} integers @returns {Float64Array} */
export const fromSingleBits = ({ lo }) => new Float64Array(new Float32Array(lo.slice().buffer));
