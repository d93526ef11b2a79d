import { fromNumbers, type Integers, toNumbers } from './integers.ts';

/**
 * Most sensors send decimal fractions with a few digits, as the nearest double. Such a value is stored as a whole number, for example of
 * hundredths. Division by the power of ten gives the same double again, bit by bit. Some sensors round to single precision before that.
 */

/** With more digits, any double could count as a decimal by chance, which saves no bytes. */
export const MOST_DIGITS = 12;

/** Up to it, a double is exact, so a division by a power of ten is rounded correctly. */
const MAX_WHOLE = 2 ** 53;

interface Decimals {
  digits: number;
  /** indexes of `-0`, because integers have no `-0`; devices that format values with printf send `-0.00` */
  minusZeros: number[] | Float64Array;
  integers: Integers;
}

/** @param single the values were rounded to binary32 @returns undefined: at least one value is no decimal fraction */
export function asDecimals(values: Float64Array, single: boolean): Decimals | undefined {
  for (let digits = 0; digits <= MOST_DIGITS; digits++) {
    const scaled = single ? scaledSingles(values, 10 ** digits) : scaledDoubles(values, 10 ** digits);
    if (scaled) return { digits, minusZeros: minusZerosOf(values), integers: fromNumbers(scaled) };
  }
  return undefined;
}

// The next two functions have the same loop. One function with the rounding function as a parameter took three times as long.

function scaledDoubles(values: Float64Array, power: number) {
  const scaled = new Float64Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    const whole = Math.round(value * power);
    if (!(Math.abs(whole) <= MAX_WHOLE && whole / power === value)) return undefined;
    scaled[i] = whole;
  }
  return scaled;
}

function scaledSingles(values: Float64Array, power: number) {
  const scaled = new Float64Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    const whole = Math.round(value * power);
    if (!(Math.abs(whole) <= MAX_WHOLE && Math.fround(whole / power) === value)) return undefined;
    scaled[i] = whole;
  }
  return scaled;
}

function minusZerosOf(values: Float64Array) {
  const indexes = [];
  for (let i = 0; i < values.length; i++) if (Object.is(values[i], -0)) indexes.push(i);
  return indexes;
}

export function fromDecimals({ digits, minusZeros, integers }: Decimals, single: boolean): Float64Array {
  const values = toNumbers(integers);
  const power = 10 ** digits;
  for (let i = 0; i < values.length; i++) values[i] = (values[i] as number) / power;
  for (const index of minusZeros) values[index] = -0;
  return single ? new Float64Array(new Float32Array(values)) : values;
}
