import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import mqttPacket from 'mqtt-packet';
import { packetLimit } from '../../../../../api/mqtt/embedded/connections.ts';
import { PacketScanner, PacketTooLarge } from '../../../../../api/mqtt/embedded/reading/connection-reader.ts';

const MAX_PAYLOAD = 4096;
/** Bytes allowed in addition to the payload, for topic, packet id and header. */
const HEADROOM = 66_000;
/** The limit in bytes of the first packet, and of every packet other than a PUBLISH. */
const MAX_OTHER = 96 * 1024;

/** @param size bytes of payload */
const publish = (size: number) =>
  mqttPacket.generate({
    cmd: 'publish',
    topic: 'iot/v1/d/measurements',
    payload: Buffer.alloc(size, 0xff),
    qos: 1,
    messageId: 7,
    dup: false,
    retain: false,
  });

const subscribe = (filters: number) =>
  mqttPacket.generate({
    cmd: 'subscribe',
    messageId: 8,
    subscriptions: Array.from({ length: filters }, (_, at) => ({
      topic: `#${at}`,
      qos: 0 as const,
    })),
  });

/** @param index of the packet in its connection */
const limitOf = (bytes: Buffer, index: number) =>
  index === 0 || bytes.readUInt8(0) >> 4 !== 3 ? MAX_OTHER : MAX_PAYLOAD + HEADROOM;

const packet = fc.oneof(
  fc.constant(mqttPacket.generate({ cmd: 'pingreq' })),
  fc.constant(mqttPacket.generate({ cmd: 'puback', messageId: 9 })),
  fc.constant(
    mqttPacket.generate({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 4,
      clean: true,
      clientId: 'c',
      keepalive: 60,
    }),
  ),
  fc.integer({ min: 0, max: 300 }).map(publish),
  fc
    .constantFrom(16_000, MAX_PAYLOAD + HEADROOM - 100, MAX_PAYLOAD + HEADROOM, MAX_OTHER, 2 ** 21)
    .map(publish),
  fc.constantFrom(10, 1000, 10_000, 30_000).map(subscribe),
);

/** @param cuts lengths of chunks, used in turn */
function* chunks(bytes: Buffer, cuts: number[]) {
  for (let from = 0, at = 0; from < bytes.length; at++) {
    const length = cuts[at % cuts.length] ?? 1;
    yield bytes.subarray(from, from + length);
    from += length;
  }
}

/** lengths of chunks */
const cutting: fc.Arbitrary<number[]> = fc.array(
  fc.oneof(fc.integer({ min: 1, max: 7 }), fc.integer({ min: 1, max: 100_000 })),
  {
    minLength: 1,
    maxLength: 20,
  },
);

test('Packet scanner: random packets in random chunks: only the first packet over its size limit is reported', () => {
  fc.assert(
    fc.property(fc.array(packet, { maxLength: 8 }), cutting, (packets, cuts) => {
      // An independent decoder: the fixed header contains the length of the rest.
      const lengths = packets.map((bytes) => bytes.length - headerOf(bytes));
      const expected = lengths.find((length, index) => length > limitOf(packets[index] as Buffer, index));
      const scanner = new PacketScanner(packetLimit(MAX_PAYLOAD));
      // Two megabytes in chunks of one byte test no more than chunks of some hundred bytes.
      const large = packets.some((bytes) => bytes.length > 100_000);
      const sizes = large ? cuts.map((cut) => cut + 500) : cuts;
      const scanAll = () => {
        for (const chunk of chunks(Buffer.concat(packets), sizes)) scanner.scan(chunk, Infinity);
      };
      if (expected === undefined) {
        scanAll();
        expect(scanner.packets).toBe(packets.length);
      } else expect(scanAll).toThrow(new PacketTooLarge(expected, { limit: 0, from: 0, to: 0 }));
    }),
    { numRuns: 60 },
  );
});

test('Packet scanner: a scan of at most N packets: stops at a packet boundary or at the end of the chunk', () => {
  fc.assert(
    fc.property(
      fc.array(packet, { minLength: 1, maxLength: 12 }),
      cutting,
      fc.integer({ min: 1, max: 5 }),
      (packets, cuts, maxPackets) => {
        const boundaries = new Set([0]);
        let offset = 0;
        for (const bytes of packets) {
          offset += bytes.length;
          boundaries.add(offset);
        }
        const scanner = new PacketScanner(() => Infinity);
        let scanned = 0;
        const sizes = cuts.map((cut) => cut + 500);
        for (let chunk of chunks(Buffer.concat(packets), sizes)) {
          while (chunk.length > 0) {
            const before = scanner.packets;
            const end = scanner.scan(chunk, maxPackets);
            scanned += end;
            expect(scanner.packets - before).toBeLessThanOrEqual(maxPackets);
            expect(end === chunk.length || boundaries.has(scanned)).toBe(true);
            chunk = chunk.subarray(end);
          }
        }
        expect(scanner.packets).toBe(packets.length);
      },
    ),
    { numRuns: 60 },
  );
});

test('Packet scanner: a packet is over its size limit: PacketTooLarge is thrown, and the header alone is enough', () => {
  const scanner = new PacketScanner(packetLimit(MAX_PAYLOAD));
  scanner.scan(mqttPacket.generate({ cmd: 'pingreq' }), Infinity);
  const large = publish(2 ** 21);
  scanner.scan(large.subarray(0, 4), Infinity);
  expect(() => scanner.scan(large.subarray(4, 5), Infinity)).toThrow(PacketTooLarge);
});

/** MQTT 3.1.1, section 2.2.3. */
function headerOf(bytes: Buffer) {
  let at = 1;
  while ((bytes[at] as number) >= 128) at++;
  return at + 1;
}

test('Packet scanner: malformed length field of five bytes: the packet ends after it, and is not reported as too large', () => {
  const scanner = new PacketScanner(packetLimit(MAX_PAYLOAD));
  const malformed = Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff, 0x7f]);
  expect(scanner.scan(malformed, 1)).toBe(5);
  expect(scanner.packets).toBe(1);
});
