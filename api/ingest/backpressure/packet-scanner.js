/** MQTT 3.1.1, section 2.2.3: the remaining length takes one to four bytes, seven bits each. */
const MAX_LENGTH_BYTES = 4;

/**
 * How large a packet may be. The length is known from its header, before the rest of it is buffered.
 *
 * @callback PacketLimit
 * @param {number} firstByte of the packet: its type and flags
 * @param {boolean} isFirst of the connection
 * @returns {number} bytes behind its fixed header
 */

/** Finds where packets end in a stream of bytes, however it is cut, without looking into them. */
export class PacketScanner {
  #limitOf;
  /** Bytes of the current packet still to come. 0: a fixed header is next, or is being read. */
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

  /** Packets that ended in what was scanned. */
  get packets() {
    return this.#packets;
  }

  /**
   * Scans from the start of a chunk. What it does not scan must come again.
   *
   * @param {Uint8Array} chunk
   * @param {number} maxPackets stops behind the last of so many
   * @returns {number} bytes scanned
   * @throws {PacketTooLarge} when the fixed header of a packet is complete that is larger than its limit
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
      } else this.#scanHeader(/** @type {number} */ (chunk[index++]));
    }
    return index;
  }

  /** @param {number} byte */
  #scanHeader(byte) {
    if (this.#header++ === 0) {
      this.#limit = this.#limitOf(byte, this.#packets === 0);
      return;
    }
    this.#length += (byte & 0x7f) * 128 ** (this.#header - 2);
    if (byte & 0x80 && this.#header <= MAX_LENGTH_BYTES) return;
    if (this.#length > this.#limit) throw new PacketTooLarge(this.#length);
    this.#toSkip = this.#length;
    if (this.#length === 0) this.#packets++;
    this.#header = 0;
    this.#length = 0;
  }
}

export class PacketTooLarge extends Error {
  /** @param {number} bytes behind its fixed header */
  constructor(bytes) {
    super(`A packet of ${bytes} bytes is larger than its limit.`);
    this.bytes = bytes;
  }
}
