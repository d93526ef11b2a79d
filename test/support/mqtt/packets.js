/** MQTT 3.1.1 packets as bytes, for packets that no client library sends. */

/** @param {string} text */
function string(text) {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** @param {number} first @param {Buffer[]} fields */
function packet(first, ...fields) {
  const body = Buffer.concat(fields);
  const header = [first];
  let rest = body.length;
  do {
    header.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    rest >>= 7;
  } while (rest > 0);
  return Buffer.concat([Buffer.from(header), body]);
}

/** @param {number} id */
const packetId = (id) => Buffer.from([id >> 8, id & 0xff]);

/** @typedef {{ topic: string, payload: string }} Will of QoS 1 */

/** @param {{ clientId: string, keepalive?: number, clean?: boolean, will?: Will }} options `keepalive` in s */
export const connectBytes = ({ clientId, keepalive = 0, clean = true, will }) =>
  packet(
    0x10,
    string('MQTT'),
    Buffer.from([4, (clean ? 2 : 0) | (will ? 0x0c : 0), keepalive >> 8, keepalive & 0xff]),
    string(clientId),
    ...(will ? [string(will.topic), string(will.payload)] : []),
  );

/**
 * @param {string} topic
 * @param {string | Buffer} payload
 * @param {number} [id] none: QoS 0
 * @param {1 | 2} [qos]
 */
export const publishBytes = (topic, payload, id, qos = 1) =>
  id === undefined
    ? packet(0x30, string(topic), Buffer.from(payload))
    : packet(0x30 | (qos << 1), string(topic), packetId(id), Buffer.from(payload));

/** With QoS 0. @param {number} id @param {string} [filter] default: everything */
export const subscribeBytes = (id, filter = '#') =>
  packet(0x82, packetId(id), string(filter), Buffer.from([0]));

/** @param {number} id @param {string} filter */
export const unsubscribeBytes = (id, filter) => packet(0xa2, packetId(id), string(filter));

export const PINGREQ = Buffer.from([0xc0, 0]);

export const DISCONNECT = Buffer.from([0xe0, 0]);

/** Returns the ids of the PUBACKs in the bytes from a broker. @param {Buffer} bytes whole packets */
export function pubackIds(bytes) {
  const ids = [];
  for (let offset = 0; offset + 2 <= bytes.length; offset += 2 + /** @type {number} */ (bytes[offset + 1])) {
    if (bytes[offset] === 0x40 && offset + 4 <= bytes.length) ids.push(bytes.readUInt16BE(offset + 2));
  }
  return ids;
}
