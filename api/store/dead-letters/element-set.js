/**
 * Which elements of a message were refused, as bits: element i is bit `i % 8`, counted from the lowest, of byte
 * `floor(i / 8)`. All 10,000 of the longest message are 1,250 bytes.
 *
 * @param {number[]} indexes from 0
 * @returns {Buffer}
 */
export function packElements(indexes) {
  const highest = indexes.reduce((most, index) => Math.max(most, index), -1);
  const bits = Buffer.alloc((highest >> 3) + 1);
  for (const index of indexes) bits[index >> 3] = Number(bits[index >> 3]) | (1 << (index & 7));
  return bits;
}

/** @param {Buffer} bits @returns {(index: number) => boolean} whether an element is among them */
export const elementsIn = (bits) => (index) => ((bits[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
