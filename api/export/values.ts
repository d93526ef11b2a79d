/** Limit of distinct values in a dictionary. With more values the column is stored without one, because it would save little. */
const MAX_DISTINCT = 2 ** 15;
const SLOTS = 2 * MAX_DISTINCT;

/** A dictionary is used if the column with it takes at most this share of the bytes of plain values. */
const WORTHWHILE = 0.8;
const DOUBLE_BYTES = 8;

/**
 * Finds the distinct doubles of a group. It compares their bits, so that -0 and 0 are different values. The dictionaries of
 * hyparquet-writer are Maps, which replace -0 by 0.
 */
export class ValueDictionary {
  #slots = new Int32Array(SLOTS);
  #values = new Float64Array(MAX_DISTINCT);
  #words = new Uint32Array(this.#values.buffer);
  #indexes;

  /** @param {number} capacity rows of a group */
  constructor(capacity) {
    this.#indexes = new Uint32Array(capacity);
  }

  /**
   * @param {Float64Array} values
   * @param {number} count
   * @returns {{ values: Float64Array, indexes: Uint32Array, width: number } | null} the distinct values, the index of each value, and the
   *   width of an index in bits; null: plain values take about as few bytes. The arrays are valid until the next call
   */
  encode(values, count) {
    const given = new Uint32Array(values.buffer, values.byteOffset, 2 * count);
    this.#slots.fill(0);
    let distinct = 0;
    for (let row = 0; row < count; row++) {
      const low = /** @type {number} */ (given[2 * row]);
      const high = /** @type {number} */ (given[2 * row + 1]);
      let slot = slotOf(low, high);
      let entry = /** @type {number} */ (this.#slots[slot]);
      while (entry !== 0 && !this.#isSame(entry - 1, low, high)) {
        slot = (slot + 1) % SLOTS;
        entry = /** @type {number} */ (this.#slots[slot]);
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

  /** @param {number} index @param {number} low @param {number} high */
  #isSame(index, low, high) {
    return this.#words[2 * index] === low && this.#words[2 * index + 1] === high;
  }
}

/** @param {number} low @param {number} high the words of a double @returns {number} slot at which the search for the double begins */
const slotOf = (low, high) => (Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b) >>> 8) % SLOTS;

/**
 * Encodes doubles as BYTE_STREAM_SPLIT: all first bytes, then all second bytes, and so on. Neighboring values of a signal share sign,
 * exponent and high digits, so these bytes compress well.
 *
 * @param {Float64Array} values
 * @param {number} count
 * @returns {Uint8Array}
 */
export function splitBytes(values, count) {
  const given = new Uint8Array(values.buffer, values.byteOffset, DOUBLE_BYTES * count);
  const split = new Uint8Array(given.length);
  for (let byte = 0; byte < DOUBLE_BYTES; byte++) {
    for (let row = 0, from = byte, to = byte * count; row < count; row++, from += DOUBLE_BYTES, to++) {
      split[to] = /** @type {number} */ (given[from]);
    }
  }
  return split;
}
