/** Limit for the length in a fixed header, with seven bits each (MQTT 3.1.1, section 2.2.3). */
const MAX_LENGTH_BYTES = 4;

/** Limit of the bytes after the fixed header. It is checked before they are buffered. `isFirst`: the first packet of the connection. */
export type PacketLimit = (firstByte: number, isFirst: boolean) => number;

/** Finds the ends of packets in a stream of bytes. It reads only their fixed headers. */
export class PacketScanner {
  #limitOf;
  /** Bytes until the next fixed header. */
  #toSkip = 0;
  /** Bytes of the fixed header that were read. */
  #header = 0;
  #length = 0;
  #limit = 0;
  #packets = 0;

  constructor(limitOf: PacketLimit) {
    this.#limitOf = limitOf;
  }

  get packets() {
    return this.#packets;
  }

  /** Returns the number of scanned bytes. The caller passes the other bytes again. @throws {PacketTooLarge} */
  scan(chunk: Uint8Array, maxPackets: number): number {
    const stopAt = this.#packets + maxPackets;
    let index = 0;
    while (index < chunk.length && this.#packets < stopAt) {
      if (this.#toSkip > 0) {
        const skipped = Math.min(this.#toSkip, chunk.length - index);
        this.#toSkip -= skipped;
        index += skipped;
        if (this.#toSkip === 0) this.#packets++;
      } else this.#scanHeader(chunk[index] as number, ++index);
    }
    return index;
  }

  /** Resets an incomplete fixed header at the end of the chunk, and returns its bytes. The caller passes them again. */
  rewind(): number {
    const bytes = this.#header;
    this.#header = 0;
    this.#length = 0;
    return bytes;
  }

  skip(bytes: number) {
    this.rewind();
    this.#toSkip = bytes;
  }

  #scanHeader(byte: number, end: number) {
    if (this.#header++ === 0) {
      this.#limit = this.#limitOf(byte, this.#packets === 0);
      return;
    }
    this.#length += (byte & 0x7f) * 128 ** (this.#header - 2);
    const goesOn = (byte & 0x80) > 0;
    if (goesOn && this.#header <= MAX_LENGTH_BYTES) return;
    // A length of more than four bytes is malformed. The packet ends here, so aedes gets it at once and closes the connection.
    if (goesOn) this.#length = 0;
    if (this.#length > this.#limit) {
      throw new PacketTooLarge(this.#length, { limit: this.#limit, from: end - this.#header, to: end });
    }
    this.#toSkip = this.#length;
    if (this.#length === 0) this.#packets++;
    this.#header = 0;
    this.#length = 0;
  }
}

export class PacketTooLarge extends Error {
  declare bytes: number;
  declare limit: number;
  declare from: number;
  declare to: number;

  /** Lengths do not include the fixed header. `from` and `to`: the header in the chunk, if it begins there. */
  constructor(bytes: number, { limit, from, to }: { limit: number; from: number; to: number }) {
    super(`A packet of ${bytes} bytes is larger than its limit.`);
    this.bytes = bytes;
    this.limit = limit;
    this.from = from;
    this.to = to;
  }
}
