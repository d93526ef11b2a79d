/** MQTT 3.1.1, section 2.2.3: the remaining length takes one to four bytes, seven bits each. */
const MOST_LENGTH_BYTES = 4;

/** Topic, packet id and properties come on top of a payload that is just within the limit, in bytes. */
const HEADROOM = 66_000;

/** The first packet is CONNECT, of somebody who may be anybody: room for names, a token and a last will of 64 KiB, in bytes. */
const MOST_CONNECT_BYTES = 96 * 1024;

/**
 * Follows the lengths of the packets that pass by, without looking into them, and tells when one is too large: as soon
 * as its header is there, before the rest of it is buffered. The broker has no limit of its own.
 *
 * @param {number} maxPayloadBytes
 * @param {(bytes: number) => void} onTooLarge
 * @returns {(chunk: Uint8Array) => void} to be called with everything that is read
 */
export function createSizeGuard(maxPayloadBytes, onTooLarge) {
  /** Bytes of the current packet still to come; 0: its first byte is next, or its length is being read. */
  let toSkip = 0;
  /** Bytes of the fixed header that have been read. */
  let header = 0;
  let length = 0;
  let most = MOST_CONNECT_BYTES;

  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      if (toSkip > 0) {
        const skipped = Math.min(toSkip, chunk.length - at);
        toSkip -= skipped;
        at += skipped;
        continue;
      }
      const byte = /** @type {number} */ (chunk[at++]);
      if (header++ === 0) continue;
      length += (byte & 0x7f) * 128 ** (header - 2);
      if (byte & 0x80 && header <= MOST_LENGTH_BYTES) continue;
      if (length > most) return onTooLarge(length);
      most = maxPayloadBytes + HEADROOM;
      toSkip = length;
      header = 0;
      length = 0;
    }
  };
}
