import { publishPacket } from './packet.js';

/** What may wait for a slow broker, in bytes; beyond it changes are dropped, and read again by those who follow them. */
const MOST_WAITING = 1024 * 1024;

/**
 * What is published in one turn of the event loop, written at once, straight to the connection's stream.
 *
 * @param {import('mqtt').MqttClient} client
 * @param {Pick<import('../metrics.js').Metrics, 'live'>} metrics
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
