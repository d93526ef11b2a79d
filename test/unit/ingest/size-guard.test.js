import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import mqttPacket from 'mqtt-packet';
import { createSizeGuard } from '../../../api/ingest/broker/size-guard.js';

const MOST = 4096;
/** What the guard lets pass on top of a payload: topic, packet id, header; see there. */
const HEADROOM = 66_000;
/** Of the first packet, whatever it says it is, and of what is no PUBLISH. */
const MOST_OTHER = 96 * 1024;

/** @param {number} size bytes of payload */
const publish = (size) =>
  mqttPacket.generate({
    cmd: 'publish',
    topic: 'iot/v1/d/measurements',
    payload: Buffer.alloc(size, 0xff),
    qos: 1,
    messageId: 7,
    dup: false,
    retain: false,
  });

/** @param {number} filters */
const subscribe = (filters) =>
  mqttPacket.generate({
    cmd: 'subscribe',
    messageId: 8,
    subscriptions: Array.from({ length: filters }, (_, at) => ({
      topic: `#${at}`,
      qos: /** @type {const} */ (0),
    })),
  });

/** @param {Buffer} bytes @param {number} at of how many packets it is the next */
const mostOf = (bytes, at) => (at === 0 || bytes.readUInt8(0) >> 4 !== 3 ? MOST_OTHER : MOST + HEADROOM);

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
  fc.constantFrom(16_000, MOST + HEADROOM - 100, MOST + HEADROOM, MOST_OTHER, 2 ** 21).map(publish),
  fc.constantFrom(10, 1000, 10_000, 30_000).map(subscribe),
);

/** @param {Buffer} bytes @param {number[]} cuts lengths of chunks, used over and over */
function* chunks(bytes, cuts) {
  for (let from = 0, at = 0; from < bytes.length; at++) {
    const length = cuts[at % cuts.length] ?? 1;
    yield bytes.subarray(from, from + length);
    from += length;
  }
}

test('however a stream of packets is cut, the first that is too large is told, and nothing else', () => {
  fc.assert(
    fc.property(
      fc.array(packet, { maxLength: 8 }),
      fc.array(fc.oneof(fc.integer({ min: 1, max: 7 }), fc.integer({ min: 1, max: 100_000 })), {
        minLength: 1,
        maxLength: 20,
      }),
      (packets, cuts) => {
        // By another decoder: its fixed header says how long a packet is behind it.
        const lengths = packets.map((bytes) => bytes.length - headerOf(bytes));
        const expected = lengths.find(
          (length, at) => length > mostOf(/** @type {Buffer} */ (packets[at]), at),
        );
        /** @type {number[]} */
        const told = [];
        const guard = createSizeGuard(MOST, (bytes) => told.push(bytes));
        // A chunk of one byte for each of two megabytes is no more telling than chunks of a few hundred.
        const large = packets.some((bytes) => bytes.length > 100_000);
        for (const chunk of chunks(Buffer.concat(packets), large ? cuts.map((cut) => cut + 500) : cuts)) {
          guard(chunk);
          if (told.length > 0) break;
        }
        expect(told).toEqual(expected === undefined ? [] : [expected]);
      },
    ),
    { numRuns: 60 },
  );
});

test('it is told from the header alone, before the payload comes', () => {
  /** @type {number[]} */
  const told = [];
  const guard = createSizeGuard(MOST, (bytes) => told.push(bytes));
  guard(mqttPacket.generate({ cmd: 'pingreq' }));
  guard(publish(2 ** 21).subarray(0, 4));
  expect(told).toEqual([]);
  guard(publish(2 ** 21).subarray(4, 5));
  expect(told).toHaveLength(1);
});

/** MQTT 3.1.1, section 2.2.3. @param {Buffer} bytes */
function headerOf(bytes) {
  let at = 1;
  while (/** @type {number} */ (bytes[at]) >= 128) at++;
  return at + 1;
}
