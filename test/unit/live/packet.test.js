import { expect, test } from '@jest/globals';
import mqttPacket from 'mqtt-packet';
import { publishPacket } from '../../../api/live/packet.js';

/** @param {Buffer} bytes */
function parse(bytes) {
  /** @type {import('mqtt-packet').IPublishPacket[]} */
  const packets = [];
  const parser = mqttPacket.parser({ protocolVersion: 5 });
  parser.on('packet', (packet) => packets.push(/** @type {any} */ (packet)));
  parser.on('error', (error) => {
    throw error;
  });
  parser.parse(bytes);
  return packets;
}

// At each of these the length of the rest takes one byte more.
test.each([0, 1, 100, 127, 128, 16_000, 16_383, 16_384, 2_097_151, 2_097_152, 3_000_000])(
  'a payload of %d bytes is what MQTT 5 says',
  (size) => {
    const payload = 'é'.repeat(size / 2) + 'x'.repeat(size % 2);
    for (const topic of ['iot/live/x', 'iot/live/0f8fad5b-d9cb-469f-a165-70867728950e']) {
      const packets = parse(Buffer.concat([publishPacket(topic, payload), publishPacket('next', 'one')]));
      expect(packets).toHaveLength(2);
      expect(packets[0]).toMatchObject({ cmd: 'publish', topic, qos: 0, retain: false, dup: false });
      expect(String(packets[0]?.payload) === payload).toBe(true);
      expect([packets[1]?.topic, String(packets[1]?.payload)]).toEqual(['next', 'one']);
    }
  },
);
