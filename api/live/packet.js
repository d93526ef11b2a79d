/** PUBLISH with QoS 0, neither repeated nor retained (MQTT 5, section 3.3.1). */
const PUBLISH = 0x30;

/**
 * A PUBLISH of MQTT 5 without properties. Through MQTT.js each costs 11 µs or more, of the process that ingests; so it
 * is 3, two of them for the JSON.
 *
 * @param {string} topic of ASCII
 * @param {string} payload
 */
export function publishPacket(topic, payload) {
  const bytes = Buffer.byteLength(payload);
  const rest = 2 + topic.length + 1 + bytes;
  const packet = Buffer.allocUnsafe(1 + lengthOfLength(rest) + rest);
  packet[0] = PUBLISH;
  let at = writeLength(packet, 1, rest);
  at = packet.writeUInt16BE(topic.length, at);
  at += packet.write(topic, at, 'latin1');
  packet[at] = 0;
  packet.write(payload, at + 1);
  return packet;
}

/** Variable byte integers (1.5.5): seven bits a byte. @param {number} value */
function lengthOfLength(value) {
  let bytes = 1;
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes++;
  return bytes;
}

/** @param {Buffer} packet @param {number} from @param {number} value @returns {number} where it ends */
function writeLength(packet, from, value) {
  let at = from;
  let rest = value;
  for (; rest > 127; rest >>>= 7) packet[at++] = (rest & 127) | 128;
  packet[at++] = rest;
  return at;
}
