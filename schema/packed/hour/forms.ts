import { type Reader, varint } from './bytes.ts';
import { type Column, columnOf, packColumn, unpackColumn } from './column.ts';
import { asDecimals, fromDecimals, MOST_DIGITS } from './decimals.ts';
import { fromNumbers, type Integers, toNumbers, zeros } from './integers.ts';

/** The second byte of a blob names the form. */
export const FORMS = {
  bits: 0,
  singleBits: 1,
  decimals: 2,
  singleDecimals: 3,
  table: 4,
} as const;

type Tried = { form: number; parts: () => Uint8Array[]; estimate: number };

export function packValues(values: Float64Array): { form: number; parts: Uint8Array[] } {
  // Decimals are tried first: nearly all sensors send decimal fractions, and all other forms are much larger for them.
  const { form, parts } = decimals(values, false) ?? smallest(values);
  return { form, parts: parts() };
}

function smallest(values: Float64Array): Tried {
  const singles = singleBitsOf(values);
  let best = singles
    ? tried(FORMS.singleBits, columnOf(singles))
    : tried(FORMS.bits, columnOf(bitsOf(values)));
  for (const other of [singles && decimals(values, true), table(values)]) {
    if (other && other.estimate < best.estimate) best = other;
  }
  return best;
}

function decimals(values: Float64Array, single: boolean): Tried | undefined {
  const found = asDecimals(values, single);
  if (!found) return undefined;
  const { digits, minusZeros, integers } = found;
  const zeros = minusZeros.length > 0 ? [columnOf(fromNumbers(minusZeros))] : [];
  const form = single ? FORMS.singleDecimals : FORMS.decimals;
  const { estimate, parts } = tried(form, ...zeros, columnOf(integers));
  return { form, estimate, parts: () => [varint(digits), varint(minusZeros.length), ...parts()] };
}

function table(values: Float64Array): Tried | undefined {
  const found = tableOf(values);
  if (!found) return undefined;
  const columns = [columnOf(bitsOf(found.table)), columnOf(fromNumbers(found.indexes))];
  const { form, estimate, parts } = tried(FORMS.table, ...columns);
  return { form, estimate, parts: () => [varint(found.table.length), ...parts()] };
}

const tried = (form: number, ...columns: Column[]): Tried => ({
  form,
  estimate: columns.reduce((sum, { estimate }) => sum + estimate, 0),
  parts: () => columns.flatMap(packColumn),
});

export function unpackValues(reader: Reader, form: number, count: number): Float64Array {
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

function readDecimals(reader: Reader, count: number, single: boolean) {
  const digits = reader.count(MOST_DIGITS);
  const zeros = reader.count(count);
  const minusZeros = zeros > 0 ? readIndexes(reader, zeros, count) : [];
  return fromDecimals({ digits, minusZeros, integers: unpackColumn(reader, count) }, single);
}

function readTable(reader: Reader, count: number) {
  const size = reader.count(count);
  const table = fromBits(unpackColumn(reader, size));
  return readIndexes(reader, count, size).map((index) => table[index] as number);
}

/** @param size length of the array that the indexes refer to */
function readIndexes(reader: Reader, count: number, size: number) {
  const indexes = toNumbers(unpackColumn(reader, count));
  for (const index of indexes) {
    if (!(index >= 0 && index < size))
      throw new RangeError(`packed samples ask for item ${index} of ${size}`);
  }
  return indexes;
}

/** For few distinct values, such as the 4,096 steps of a 12-bit converter. Ascending: near values have near indexes */
export type Table = { table: Float64Array; indexes: Float64Array };

/** As a fraction of the number of samples. A larger table saves too little. */
const MAX_DISTINCT_SHARE = 1 / 4;

export function tableOf(values: Float64Array): Table | undefined {
  const different: Set<number> = new Set();
  for (const value of values) {
    // A Set treats 0 and -0 as equal, and any two NaN as equal, so a table would lose their bits.
    if (Object.is(value, -0) || Number.isNaN(value)) return undefined;
    if (different.add(value).size > values.length * MAX_DISTINCT_SHARE) return undefined;
  }
  const table = Float64Array.from(different).sort();
  const indexOf = new Map(Array.from(table, (value, index) => [value, index]));
  return { table, indexes: values.map((value) => indexOf.get(value) as number) };
}

/** The next functions take the bits of floats as integers: for close values of one sign, the difference of the integers is small, too. */

export function bitsOf(values: Float64Array): Integers {
  const integers = zeros(values.length);
  const view = new DataView(new ArrayBuffer(8));
  for (let i = 0; i < values.length; i++) {
    view.setFloat64(0, values[i] as number);
    integers.hi[i] = view.getInt32(0);
    integers.lo[i] = view.getInt32(4);
  }
  return integers;
}

export function fromBits({ hi, lo }: Integers): Float64Array {
  const values = new Float64Array(hi.length);
  const view = new DataView(new ArrayBuffer(8));
  for (let i = 0; i < hi.length; i++) {
    view.setInt32(0, hi[i] as number);
    view.setInt32(4, lo[i] as number);
    values[i] = view.getFloat64(0);
  }
  return values;
}

/** undefined: a value needs binary64. */
export function singleBitsOf(values: Float64Array): Integers | undefined {
  if (!values.every((value) => Math.fround(value) === value)) return undefined;
  const integers = zeros(values.length);
  integers.lo.set(new Int32Array(new Float32Array(values).buffer));
  for (let i = 0; i < values.length; i++) integers.hi[i] = (integers.lo[i] as number) >> 31;
  return integers;
}

export const fromSingleBits = ({ lo }: Integers): Float64Array =>
  new Float64Array(new Float32Array(lo.slice().buffer));
