import { generate, parser } from 'mqtt-packet';

/** @import { Packet } from 'mqtt-packet' */

/** MQTT 3.1.1 packets as bytes, for tests that write to a socket themselves. */

/** @typedef {{ topic: string, payload: string }} Will of QoS 1 */

/** @param {Packet} packet @returns {Buffer} */
const bytesOf = (packet) => generate(packet, { protocolVersion: 4 });

/** @param {{ clientId: string, keepalive?: number, clean?: boolean, will?: Will }} options `keepalive` in s */
export const connectBytes = ({ clientId, keepalive = 0, clean = true, will }) =>
  bytesOf({
    cmd: 'connect',
    protocolVersion: 4,
    clientId,
    keepalive,
    clean,
    ...(will && { will: { topic: will.topic, payload: Buffer.from(will.payload), qos: 1, retain: false } }),
  });

/**
 * @param {string} topic
 * @param {string | Buffer} payload
 * @param {number} [id] none: QoS 0
 * @param {1 | 2} [qos]
 */
export const publishBytes = (topic, payload, id, qos = 1) =>
  bytesOf({
    cmd: 'publish',
    topic,
    payload,
    dup: false,
    retain: false,
    ...(id === undefined ? { qos: 0 } : { qos, messageId: id }),
  });

/** Subscribes with QoS 0. @param {number} id @param {string} [filter] default: everything */
export const subscribeBytes = (id, filter = '#') =>
  bytesOf({ cmd: 'subscribe', messageId: id, subscriptions: [{ topic: filter, qos: 0 }] });

/** @param {number} id @param {string} filter */
export const unsubscribeBytes = (id, filter) =>
  bytesOf({ cmd: 'unsubscribe', messageId: id, unsubscriptions: [filter] });

export const PINGREQ = bytesOf({ cmd: 'pingreq' });

export const DISCONNECT = bytesOf({ cmd: 'disconnect' });

/**
 * Splits the bytes of one side of a connection into packets.
 *
 * @param {{ version: number }} connection protocol version, which the CONNECT of the connection sets
 * @returns {(chunk: Buffer) => Packet[]}
 */
export function createPacketReader(connection) {
  /** @type {Packet[]} */
  let packets = [];
  /** @type {ReturnType<typeof parser> | null} */
  let reader = null;
  return (chunk) => {
    packets = [];
    reader ??= parser({ protocolVersion: connection.version }).on('packet', (packet) => {
      if (packet.cmd === 'connect') connection.version = Number(packet.protocolVersion);
      packets.push(packet);
    });
    reader.parse(chunk);
    return packets;
  };
}

/** @param {Buffer} bytes from a broker @returns {number[]} the ids of the PUBACKs in the bytes */
export const pubackIds = (bytes) =>
  createPacketReader({ version: 4 })(bytes).flatMap(({ cmd, messageId }) =>
    cmd === 'puback' ? [Number(messageId)] : [],
  );
