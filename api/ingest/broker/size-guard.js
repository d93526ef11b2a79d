/** MQTT 3.1.1, section 2.2.3: the remaining length takes one to four bytes, seven bits each. */
const MOST_LENGTH_BYTES = 4;

/** Topic, packet id and properties come on top of a payload that is just within the limit, in bytes. */
const HEADROOM = 66_000;

/**
 * What is no PUBLISH, in bytes, and the first packet, of somebody who may be anybody: a CONNECT with names, a token and a last will of
 * 64 KiB, a SUBSCRIBE to a thousand devices.
 */
const MOST_OTHER_BYTES = 96 * 1024;

/** The type of PUBLISH, in the upper half of the first byte. */
const PUBLISH = 0x30;

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
  let isFirst = true;
  let most = MOST_OTHER_BYTES;

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
      if (header++ === 0) {
        if (!isFirst && (byte & 0xf0) === PUBLISH) most = maxPayloadBytes + HEADROOM;
        isFirst = false;
        continue;
      }
      length += (byte & 0x7f) * 128 ** (header - 2);
      if (byte & 0x80 && header <= MOST_LENGTH_BYTES) continue;
      if (length > most) return onTooLarge(length);
      most = MOST_OTHER_BYTES;
      toSkip = length;
      header = 0;
      length = 0;
    }
  };
}
