import { expect, test } from '@jest/globals';
import { type IPublishPacket, parser } from 'mqtt-packet';
import { decode } from '../../../../api/ingest/decode/index.ts';
import { MessageBatch } from '../../../../api/ingest/decode/message-batch.ts';
import { createClocks, createDevices } from '../../../../tools/bench/load/payloads.ts';
import { type Shape, shapeOf } from '../../../../tools/bench/load/shapes.ts';
import { createPackets } from '../../../../tools/bench/publisher/packets.ts';

const shape = (name: string) => shapeOf(name) as Shape;

function decoded(payload: Buffer) {
  const batch = new MessageBatch({
    receivedAt: 0,
    oldest: 0,
    newest: Number.MAX_SAFE_INTEGER,
    relative: false,
  });
  decode(payload, undefined, batch);
  return batch;
}

test('Bench devices: load faster than real time: devices send in turn, and sample times do not overlap', () => {
  const devices = createDevices({ clocks: createClocks(), first: 5, count: 2, samples: 10 });
  const seen: number[][] = [];
  for (const now of [1000, 1000, 1001, 1001, 5000]) {
    devices.advance(now);
    seen.push([devices.number, devices.time]);
  }
  expect(seen).toEqual([
    [5, 1000],
    [6, 1000],
    [5, 1010],
    [6, 1010],
    [5, 5000],
  ]);
});

test('Bench devices: a second load begins: the times of its devices continue after the first load', () => {
  const clocks = createClocks();
  const first = createDevices({ clocks, first: 0, count: 1, samples: 60 });
  first.advance(1000);
  const second = createDevices({ clocks, first: 0, count: 1, samples: 1 });
  second.advance(1001);
  expect(second.time).toBe(1060);
});

test.each(['1x1', '1x60', '50x1'])('Bench packets: load %s: mqtt-packet reads equal messages', (name) => {
  const packets = createPackets(shape(name));
  const time = 1_763_740_000_789;
  const bytes = Buffer.alloc(2 * packets.most);
  const middle = packets.write(bytes, 0, { number: 4711, time }, 258);
  const end = packets.write(bytes, middle, { number: 3, time: time + 1000 }, 65_535);
  const read: IPublishPacket[] = [];
  const reader = parser();
  reader.on('packet', (packet) => packet.cmd === 'publish' && read.push(packet));
  reader.parse(bytes.subarray(0, end));
  expect(read.map(({ topic, messageId, qos }) => [topic, messageId, qos])).toEqual([
    ['iot/v1/bench-004711/measurements', 258, 1],
    ['iot/v1/bench-000003/measurements', 65_535, 1],
  ]);
  const { sensors, samples } = shape(name);
  const batch = decoded(read[0]?.payload as Buffer);
  expect(batch.refused).toEqual([]);
  expect(batch.sensors.size).toBe(sensors);
  for (const { times } of batch.sensors.values()) {
    expect([...times]).toEqual(Array.from({ length: samples }, (_, at) => time + at));
  }
  expect(decoded(read[1]?.payload as Buffer).sensors.get('sensor-00')?.times[0]).toBe(time + 1000);
});
