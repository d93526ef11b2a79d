import { expect, test } from '@jest/globals';
import type { IPublishPacket } from 'mqtt-packet';
import mqttPacket from 'mqtt-packet';
import { Outbox, publishPacket, waitedMs } from '../../../../api/features/external-broker/transport.ts';

function parse(bytes: Buffer) {
  const packets: IPublishPacket[] = [];
  const parser = mqttPacket.parser({ protocolVersion: 5 });
  parser.on('packet', (packet) => packets.push(packet as never));
  parser.on('error', (error) => {
    throw error;
  });
  parser.parse(bytes);
  return packets;
}

// The length field of the packet grows by one byte at 128, 16,384 and 2,097,152 bytes.
test.each([0, 1, 100, 127, 128, 16_000, 16_383, 16_384, 2_097_151, 2_097_152, 3_000_000])(
  'PUBLISH packet: a payload of %d bytes: an MQTT 5 parser reads it back',
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

// A remaining length above 127 bytes takes two bytes. The payloads below lie on both sides of that limit.
test.each([0, 12.4, 999_999])(
  'Live message: it waited %d ms to be sent: its user property waited_ms has this time',
  (waited) => {
    for (const payload of ['[]', 'x'.repeat(90), 'x'.repeat(120)]) {
      const [packet] = parse(publishPacket('iot/live/x', payload, waited));
      expect(packet).toMatchObject({ topic: 'iot/live/x', payload: Buffer.from(payload) });
      expect(packet?.properties).toEqual({ userProperties: { waited_ms: String(Math.round(waited)) } });
      expect(waitedMs(packet as never)).toBe(Math.round(waited));
    }
  },
);

test.each([
  undefined,
  {},
  { waited_ms: '-1' },
  { waited_ms: 'x' },
  { waited_ms: ['1', '2'] },
  { waited_ms: '1e9' },
])('Live message: the user properties are %j: the waiting time is read as 0 ms', (userProperties) => {
  expect(waitedMs({ properties: { userProperties } } as never)).toBe(0);
  expect(waitedMs({} as never)).toBe(0);
});

test('Queue of live messages: more than 1 MiB waits, or no connection: put() returns false and drops the message', () => {
  const client = { connected: true, stream: { writableLength: 0, write() {} } };
  const outbox = new Outbox(client as never, { live: { inc() {} } } as never);
  expect(outbox.put('iot/live/x', 'x'.repeat(2 ** 20))).toBe(true);
  expect(outbox.put('iot/live/x', '[]')).toBe(false);
  outbox.flush();
  expect(outbox.put('iot/live/x', '[]')).toBe(true);
  client.connected = false;
  expect(outbox.put('iot/live/x', '[]')).toBe(false);
});
