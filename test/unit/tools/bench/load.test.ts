import { describe, expect, test } from '@jest/globals';
import { type IPublishPacket, parser } from 'mqtt-packet';
import { decode } from '../../../../api/ingest/decode/index.ts';
import { MessageBatch } from '../../../../api/ingest/decode/message-batch.ts';
import { createClocks, createDevices, messagesOf } from '../../../../tools/bench/load/payloads.ts';
import { type Shape, shapeOf } from '../../../../tools/bench/load/shapes.ts';
import { createPackets } from '../../../../tools/bench/publisher/packets.ts';
import { createCutter } from '../../../../tools/bench/publisher/wire.ts';

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

describe('Bench: loads', () => {
  test('Bench loads: names such as 4x10 are parsed into sensors and samples', () => {
    expect(shape('4x10')).toMatchObject({ sensors: 4, samples: 10, devices: 1000 });
    expect(shape('50x1').devices).toBe(200);
    for (const wrong of ['', '4', '0x1', 'x', '4x', '4x10x1']) expect(shapeOf(wrong)).toBeNull();
  });
});

describe('Bench: devices', () => {
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
});

describe('Bench: packets', () => {
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
});

describe('Bench: packets in line protocol', () => {
  test.each(['1x1', '4x10', '50x1'])(
    'Bench packets in line protocol: load %s: every line has the device and the time of its message',
    (name) => {
      const lines = { ...shape(name), format: 'lines' as const };
      const packets = createPackets(lines);
      const time = 1_763_740_000_789;
      const bytes = Buffer.alloc(packets.most);
      const end = packets.write(bytes, 0, { number: 4711, time }, 258);
      const read: IPublishPacket[] = [];
      const reader = parser();
      reader.on('packet', (packet) => packet.cmd === 'publish' && read.push(packet));
      reader.parse(bytes.subarray(0, end));
      expect(read[0]).toMatchObject({ topic: 'iot/v1/bench-004711/measurements', messageId: 258 });
      const [series] = messagesOf(lines);
      const expected = (series ?? []).flatMap(({ name: sensor, samples }) =>
        samples.map(({ value }, at) => `m,sensor=bench-004711/${sensor} value=${value} ${time + at}\n`),
      );
      expect(String(read[0]?.payload)).toBe(expected.join(''));
    },
  );
});

test('Bench packet cutter: bytes arrive in chunks of any size: every packet is found', () => {
  const long = Buffer.concat([Buffer.from([0x32, 0xc8, 0x01]), Buffer.alloc(200, 7)]);
  const bytes = Buffer.concat([Buffer.from([0x40, 2, 0, 9]), long, Buffer.from([0xd0, 0]), long]);
  for (const size of [1, 2, 3, 5, 64, bytes.length]) {
    const seen: string[] = [];
    const cut = createCutter((type, body) => seen.push(`${type.toString(16)}:${body.length}`));
    for (let at = 0; at < bytes.length; at += size) cut(bytes.subarray(at, at + size));
    expect(seen).toEqual(['40:2', '30:200', 'd0:0', '30:200']);
  }
});
