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
  /** Missing bytes of the current packet. 0: a fixed header is next, or is incomplete. */
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
  /** @param {number} bytes after its fixed header */
  constructor(bytes) {
    super(`A packet of ${bytes} bytes is larger than its limit.`);
    this.bytes = bytes;
  }
}
