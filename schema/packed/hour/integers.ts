/** BigInts create an object for each operation. A loop with BigInt.asUintN crashed the compiler of V8 11.3 (Node 20). */
export type Integers = { hi: Int32Array; lo: Int32Array };

export type Wide = readonly [hi: number, lo: number];

const WORD = 2 ** 32;

export const zeros = (length: number): Integers => ({
  hi: new Int32Array(length),
  lo: new Int32Array(length),
});

export function fromNumbers(numbers: ArrayLike<number>): Integers {
  const integers = zeros(numbers.length);
  const { hi, lo } = integers;
  for (let i = 0; i < hi.length; i++) {
    const number = numbers[i] as number;
    lo[i] = number;
    hi[i] = Math.floor(number / WORD);
  }
  return integers;
}

export function toNumbers({ hi, lo }: Integers): Float64Array {
  const numbers = new Float64Array(hi.length);
  for (let i = 0; i < hi.length; i++) {
    const low = lo[i] as number;
    numbers[i] = (hi[i] as number) * WORD + (low >>> 0);
  }
  return numbers;
}

export const at = ({ hi, lo }: Integers, index: number): Wide => [Number(hi[index]), Number(lo[index])];

/** Modulo 2^64. */
export const minus = ([high, low]: Wide, [lessHigh, lessLow]: Wide): Wide => [
  (high - lessHigh - (low >>> 0 < lessLow >>> 0 ? 1 : 0)) | 0,
  (low - lessLow) | 0,
];

export const byWidth = (a: Wide, b: Wide) => a[0] - b[0] || (a[1] >>> 0) - (b[1] >>> 0);

/**
 * Encodes the difference of each number from its prediction, modulo 2^64, as an unsigned code (zigzag): 0 -1 1 -2 2
 * become 0 1 2 3 4. One loop does both steps, because after deflate this loop takes the most time of packing.
 * @param order the prediction of a number. 0: `start`; 1: the number before it; 2: the number before it plus the last
 *   difference
 * @param start with order 0 the prediction of all numbers, otherwise the predecessor of the first number
 * @param slope with order 2 the difference before the first number
 * @returns `bits`: of the greatest code
 */
export function codesOf(
  { hi, lo }: Integers,
  order: number,
  start: Wide,
  slope: Wide = [0, 0],
): { codes: Integers; bits: number } {
  const codes = zeros(hi.length);
  let [high, low] = start;
  let [slopeHigh, slopeLow] = slope;
  let [anyHigh, anyLow] = [0, 0];
  for (let i = 0; i < hi.length; i++) {
    const ownHigh = hi[i] as number;
    const own = lo[i] as number;
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

/** In place. @param running all preceding numbers are added to each number, too (a running sum) */
export function addUp({ hi, lo }: Integers, start: Wide, running: boolean) {
  let [high, low] = start;
  for (let i = 0; i < hi.length; i++) {
    const own = lo[i] as number;
    const ownHigh = hi[i] as number;
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

/** In place: 0 1 2 3 4 become 0 -1 1 -2 2. */
export function unzigzag({ hi, lo }: Integers) {
  for (let i = 0; i < hi.length; i++) {
    const high = hi[i] as number;
    const low = lo[i] as number;
    const sign = -(low & 1);
    hi[i] = (high >>> 1) ^ sign;
    lo[i] = ((low >>> 1) | (high << 31)) ^ sign;
  }
}
