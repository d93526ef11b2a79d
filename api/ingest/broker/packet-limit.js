/** Topic, packet id and properties come on top of a payload that is just within the limit, in bytes. */
const HEADROOM = 66_000;

/**
 * Bytes of a packet that is no PUBLISH, and of the first packet, whose sender is not known yet: a CONNECT with names, a
 * token and a last will of 64 KiB, a SUBSCRIBE to a thousand devices.
 */
const MAX_OTHER_BYTES = 96 * 1024;

/** The type of PUBLISH, in the upper half of the first byte. */
const PUBLISH = 0x30;

/**
 * The broker has no limit of its own.
 *
 * @param {number} maxPayloadBytes
 * @returns {import('../backpressure/packet-scanner.js').PacketLimit}
 */
export const packetLimit = (maxPayloadBytes) => (firstByte, isFirst) =>
  !isFirst && (firstByte & 0xf0) === PUBLISH ? maxPayloadBytes + HEADROOM : MAX_OTHER_BYTES;
