/** MQTT 3.1.1, section 2.2.3: the remaining length takes one to four bytes, seven bits each. */
const MAX_LENGTH_BYTES = 4;

/**
 * The size limit of a packet. The fixed header contains the length, so the limit is checked before the rest is buffered.
 *
 * @callback PacketLimit
 * @param {number} firstByte of the packet: its type and flags
 * @param {boolean} isFirst of the connection
 * @returns {number} maximum bytes after its fixed header
 */

/** Finds the ends of packets in a stream of bytes. It reads only their fixed headers. */
export class PacketScanner {
  #limitOf;
  /** Missing bytes of the current packet. 0: the next bytes belong to a fixed header. */
  #toSkip = 0;
  /** Bytes of the fixed header that have been read. */
  #header = 0;
  #length = 0;
  #limit = 0;
  #packets = 0;

  /** @param {PacketLimit} limitOf */
  constructor(limitOf) {
    this.#limitOf = limitOf;
  }

  /** Packets that ended so far. */
  get packets() {
    return this.#packets;
  }

  /**
   * Scans from the start of a chunk. The caller passes the rest again.
   *
   * @param {Uint8Array} chunk
   * @param {number} maxPackets stops after this many packets
   * @returns {number} bytes scanned
   * @throws {PacketTooLarge} when a fixed header announces a packet above its limit
   */
  scan(chunk, maxPackets) {
    const stopAt = this.#packets + maxPackets;
    let index = 0;
    while (index < chunk.length && this.#packets < stopAt) {
      if (this.#toSkip > 0) {
        const skipped = Math.min(this.#toSkip, chunk.length - index);
        this.#toSkip -= skipped;
        index += skipped;
        if (this.#toSkip === 0) this.#packets++;
      } else this.#scanHeader(/** @type {number} */ (chunk[index]), ++index);
    }
    return index;
  }

  /**
   * Resets an incomplete fixed header at the end of the chunk. The caller passes its bytes again.
   *
   * @returns {number} its bytes
   */
  rewind() {
    const bytes = this.#header;
    this.#header = 0;
    this.#length = 0;
    return bytes;
  }

  /** Skips a packet after its fixed header. @param {number} bytes of the packet */
  skip(bytes) {
    this.rewind();
    this.#toSkip = bytes;
  }

  /** @param {number} byte @param {number} end index behind it */
  #scanHeader(byte, end) {
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
  /**
   * @param {number} bytes after its fixed header
   * @param {{ limit: number, from: number, to: number }} place `from` and `to`: of its fixed header in the chunk, if it begins there
   */
  constructor(bytes, { limit, from, to }) {
    super(`A packet of ${bytes} bytes is larger than its limit.`);
    this.bytes = bytes;
    this.limit = limit;
    this.from = from;
    this.to = to;
  }
}
