/** Limit of bytes of the remaining length in a fixed header, with seven bits each (MQTT 3.1.1, section 2.2.3). */
const MAX_LENGTH_BYTES = 4;

/**
 * Returns the size limit of a packet. The fixed header contains the length of the packet, so the limit is checked before the rest is
 * buffered.
 * @param firstByte first byte of the packet: its type and flags
 * @param isFirst whether this is the first packet of the connection
 * @returns limit of the bytes after the fixed header
 */
export type PacketLimit = (firstByte: number, isFirst: boolean) => number;

/** Finds the ends of packets in a stream of bytes. It reads only their fixed headers. */
export class PacketScanner {
  #limitOf;
  /** Number of missing bytes of the current packet. 0: the next bytes belong to a fixed header. */
  #toSkip = 0;
  /** Number of bytes of the fixed header that have been read. */
  #header = 0;
  #length = 0;
  #limit = 0;
  #packets = 0;

  constructor(limitOf: PacketLimit) {
    this.#limitOf = limitOf;
  }

  /** Number of packets that ended so far. */
  get packets() {
    return this.#packets;
  }

  /**
   * Scans from the start of a chunk. The caller passes the bytes that were not scanned again.
   * @param maxPackets number of packets after which the scan stops
   * @returns number of scanned bytes
   * @throws {PacketTooLarge} when a fixed header announces a packet above its limit
   */
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

  /**
   * Resets an incomplete fixed header at the end of the chunk. The caller passes the bytes of this header again.
   * @returns number of bytes of the incomplete header
   */
  rewind(): number {
    const bytes = this.#header;
    this.#header = 0;
    this.#length = 0;
    return bytes;
  }

  /** Skips a packet after its fixed header. @param bytes length of the packet without the header */
  skip(bytes: number) {
    this.rewind();
    this.#toSkip = bytes;
  }

  /** @param end index behind the byte */
  #scanHeader(byte: number, end: number) {
    if (this.#header++ === 0) {
      this.#limit = this.#limitOf(byte, this.#packets === 0);
      return;
    }
    this.#length += (byte & 0x7f) * 128 ** (this.#header - 2);
    const goesOn = (byte & 0x80) > 0;
    if (goesOn && this.#header <= MAX_LENGTH_BYTES) return;
    // A length of more than four bytes is malformed. The packet ends here, so aedes gets it at once and
    // closes the connection.
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

  /**
   * @param bytes length of the packet without its fixed header
   * @param place `limit`: limit of `bytes`; `from` and `to`: indexes of the fixed header in the chunk, if the header begins there
   */
  constructor(bytes: number, { limit, from, to }: { limit: number; from: number; to: number }) {
    super(`A packet of ${bytes} bytes is larger than its limit.`);
    this.bytes = bytes;
    this.limit = limit;
    this.from = from;
    this.to = to;
  }
}
