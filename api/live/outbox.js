/** What may wait for a slow broker, in bytes; beyond it changes are dropped, and read again by those who follow them. */
const MOST_WAITING = 1024 * 1024;

/**
 * What is published in one turn of the event loop, written at once, straight to the connection's stream.
 *
 * @param {import('mqtt').MqttClient} client
 * @param {Pick<import('../observability/metrics.js').Metrics, 'live'>} metrics
 */
export function createOutbox(client, { live }) {
  /** @type {Buffer[]} */
  let packets = [];
  let bytes = 0;

  function flush() {
    if (client.connected && packets.length > 0) client.stream.write(Buffer.concat(packets, bytes));
    packets = [];
    bytes = 0;
  }

  return {
    flush,

    /** @param {string} topic of ASCII @param {string} payload @param {number} [waited] since the oldest commit that it tells of, in ms */
    put(topic, payload, waited) {
      if (!client.connected || client.stream.writableLength + bytes > MOST_WAITING) {
        live.inc({ result: 'dropped' });
        return;
      }
      const packet = publishPacket(topic, payload, waited);
      live.inc({ result: 'published' });
      bytes += packet.length;
      if (packets.push(packet) === 1) setImmediate(flush);
    },
  };
}

/** PUBLISH with QoS 0, neither repeated nor retained (MQTT 5, section 3.3.1). */
const PUBLISH = 0x30;

/** A property that two parties agree on, a name and a text (3.3.2.3.7); brokers pass it on unaltered. */
const USER_PROPERTY = 0x26;

/**
 * The user property that says how long the oldest change of a message was committed when it was sent, in whole ms: by
 * the sender's clock alone, since those of two machines differ.
 */
export const WAITED = 'waited_ms';

/** Longest wait that is believed, in ms. */
const LONGEST_WAIT_MS = 3_600_000;

/**
 * A PUBLISH of MQTT 5. Through MQTT.js each costs 11 µs or more, of the process that ingests; so it is 3, two of them for
 * the JSON.
 *
 * @param {string} topic of ASCII
 * @param {string} payload
 * @param {number} [waited] see `WAITED`; undefined: it tells of no commit
 */
export function publishPacket(topic, payload, waited) {
  const bytes = Buffer.byteLength(payload);
  const text = waited === undefined ? '' : String(Math.round(waited));
  // Far below 128 bytes, so that their length takes one.
  const properties = text === '' ? 0 : 1 + 2 + WAITED.length + 2 + text.length;
  const rest = 2 + topic.length + 1 + properties + bytes;
  const packet = Buffer.allocUnsafe(1 + lengthOfLength(rest) + rest);
  packet[0] = PUBLISH;
  let at = writeText(packet, writeLength(packet, 1, rest), topic);
  packet[at++] = properties;
  if (properties > 0) {
    packet[at++] = USER_PROPERTY;
    at = writeText(packet, writeText(packet, at, WAITED), text);
  }
  packet.write(payload, at);
  return packet;
}

/**
 * @param {import('mqtt').IPublishPacket} packet that somebody sent
 * @returns {number} ms; 0 where it does not say, or nothing that could be so
 */
export function waitedMs({ properties }) {
  const waited = Number(properties?.userProperties?.[WAITED]);
  return waited >= 0 && waited <= LONGEST_WAIT_MS ? waited : 0;
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

/** @param {Buffer} packet @param {number} from @param {string} text of ASCII @returns {number} where it ends */
function writeText(packet, from, text) {
  const at = packet.writeUInt16BE(text.length, from);
  return at + packet.write(text, at, 'latin1');
}
