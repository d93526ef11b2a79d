import { at, fromNumbers, type Wide } from './integers.ts';

/** 7 bits per byte, lowest bits first; the top bit is set in every byte but the last. */
function wideVarint([high, low]: Wide): Buffer {
  const bytes = [];
  let [hi, lo] = [high, low];
  while (hi !== 0 || lo >>> 0 > 0x7f) {
    bytes.push((lo & 0x7f) | 0x80);
    lo = (lo >>> 7) | (hi << 25);
    hi >>>= 7;
  }
  bytes.push(lo);
  return Buffer.from(bytes);
}

export const varint = (count: number): Buffer => wideVarint(at(fromNumbers([count]), 0));

/** Zigzag: short for small numbers of both signs. */
export const signedVarint = ([high, low]: Wide): Buffer => {
  const sign = high >> 31;
  return wideVarint([((high << 1) | (low >>> 31)) ^ sign, (low << 1) ^ sign]);
};

/** Every method throws a RangeError instead of reading beyond the end of the blob. */
export class Reader {
  #blob;
  #at = 0;

  constructor(blob: Uint8Array) {
    this.#blob = blob;
  }

  byte() {
    const byte = this.#blob[this.#at++];
    if (byte === undefined)
      throw new RangeError(`packed samples of ${this.#blob.length} bytes: more are needed`);
    return byte;
  }

  bytes(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#blob.length) {
      throw new RangeError(`packed samples of ${this.#blob.length} bytes: ${end} are needed`);
    }
    const bytes = this.#blob.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  #varint(): Wide {
    let [high, low] = [0, 0];
    for (let shift = 0; shift < 64; shift += 7) {
      const byte = this.byte();
      const bits = byte & 0x7f;
      if (shift < 32) low |= bits << shift;
      if (shift === 28) high |= bits >>> 4;
      if (shift > 32) high |= bits << (shift - 32);
      if (byte < 0x80) return [high, low];
    }
    throw new RangeError('packed samples hold a number of more than 64 bits');
  }

  signedVarint(): Wide {
    const [high, low] = this.#varint();
    const sign = -(low & 1);
    return [(high >>> 1) ^ sign, ((low >>> 1) | (high << 31)) ^ sign];
  }

  /** @param most at most 2^53 @throws {RangeError} when the count is greater */
  count(most: number): number {
    const [high, low] = this.#varint();
    const count = (high >>> 0) * 2 ** 32 + (low >>> 0);
    if (count > most) throw new RangeError(`packed samples claim ${count}; ${most} is the most`);
    return count;
  }

  end() {
    const left = this.#blob.length - this.#at;
    if (left > 0) throw new RangeError(`packed samples are followed by ${left} bytes of something else`);
  }
}
