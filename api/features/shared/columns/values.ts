/** A column with more distinct values is stored without a dictionary, because it would save little. */
const MAX_DISTINCT = 2 ** 15;
const SLOTS = 2 * MAX_DISTINCT;

/** Greatest share of the bytes of plain values that the column may take with its dictionary. */
const WORTHWHILE = 0.8;
const DOUBLE_BYTES = 8;

/**
 * Compares the bits of doubles, so that -0 and 0 are different values. The dictionaries of hyparquet-writer are Maps, which replace -0 by
 * 0.
 */
export class ValueDictionary {
  #slots = new Int32Array(SLOTS);
  #values = new Float64Array(MAX_DISTINCT);
  #words = new Uint32Array(this.#values.buffer);
  #indexes;

  constructor(capacity: number) {
    this.#indexes = new Uint32Array(capacity);
  }

  /** `width`: bits of an index. The arrays are valid until the next call. Null: plain values take about as few bytes. */
  encode(
    values: Float64Array,
    count: number,
  ): { values: Float64Array; indexes: Uint32Array; width: number } | null {
    const given = new Uint32Array(values.buffer, values.byteOffset, 2 * count);
    this.#slots.fill(0);
    let distinct = 0;
    for (let row = 0; row < count; row++) {
      const low = given[2 * row] as number;
      const high = given[2 * row + 1] as number;
      let slot = slotOf(low, high);
      let entry = this.#slots[slot] as number;
      while (entry !== 0 && !this.#isSame(entry - 1, low, high)) {
        slot = (slot + 1) % SLOTS;
        entry = this.#slots[slot] as number;
      }
      if (entry === 0) {
        if (distinct === MAX_DISTINCT) return null;
        this.#words[2 * distinct] = low;
        this.#words[2 * distinct + 1] = high;
        entry = ++distinct;
        this.#slots[slot] = entry;
      }
      this.#indexes[row] = entry - 1;
    }
    const width = Math.max(1, 32 - Math.clz32(distinct - 1));
    const bytes = distinct * DOUBLE_BYTES + (count * width) / 8;
    if (bytes > WORTHWHILE * count * DOUBLE_BYTES) return null;
    return { values: this.#values.subarray(0, distinct), indexes: this.#indexes.subarray(0, count), width };
  }

  #isSame(index: number, low: number, high: number) {
    return this.#words[2 * index] === low && this.#words[2 * index + 1] === high;
  }
}

/** Slot of the hash table at which the search for a double begins. */
const slotOf = (low: number, high: number): number =>
  (Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b) >>> 8) % SLOTS;

/**
 * BYTE_STREAM_SPLIT: all first bytes, then all second bytes, and so on. Neighboring values of a signal share sign, exponent and high
 * digits, so these bytes compress well.
 */
export function splitBytes(values: Float64Array, count: number): Uint8Array {
  const given = new Uint8Array(values.buffer, values.byteOffset, DOUBLE_BYTES * count);
  const split = new Uint8Array(given.length);
  for (let byte = 0; byte < DOUBLE_BYTES; byte++) {
    for (let row = 0, from = byte, to = byte * count; row < count; row++, from += DOUBLE_BYTES, to++) {
      split[to] = given[from] as number;
    }
  }
  return split;
}
