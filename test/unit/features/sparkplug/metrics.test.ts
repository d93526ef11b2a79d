import { describe, expect, test } from '@jest/globals';
import protobuf from 'protobufjs/minimal.js';
import { readBirthCertificate } from '../../../../api/features/sparkplug/births.ts';
import { definitionsOf } from '../../../../api/features/sparkplug/definition-book.ts';
import { bdSeqOf, readMetrics } from '../../../../api/features/sparkplug/metrics.ts';
import { decodePayload } from '../../../../api/features/sparkplug/payload.ts';
import { MessageBatch } from '../../../../api/ingest/decode/message-batch.ts';
import { type Identity, identifyDevice } from '../../../../schema/ids.ts';

const NOW = Date.UTC(2026, 10, 22, 12);
const DEVICE = identifyDevice('plant/edge-1') as Identity;
const [DOUBLE, BOOLEAN, STRING, UINT64] = [10, 11, 12, 8];

type Fields = {
  name?: string;
  alias?: number;
  at?: number;
  datatype?: number;
  double?: number;
  int?: number;
  long?: number;
};

function payloadOf(metrics: Fields[], sentAt?: number) {
  const writer = protobuf.Writer.create();
  if (sentAt !== undefined) writer.uint32(1 << 3).uint64(sentAt);
  for (const { name, alias, at, datatype, double, int, long } of metrics) {
    writer.uint32((2 << 3) | 2).fork();
    if (name !== undefined) writer.uint32((1 << 3) | 2).string(name);
    if (alias !== undefined) writer.uint32(2 << 3).uint64(alias);
    if (at !== undefined) writer.uint32(3 << 3).uint64(at);
    if (datatype !== undefined) writer.uint32(4 << 3).uint32(datatype);
    if (int !== undefined) writer.uint32(10 << 3).uint32(int);
    if (long !== undefined) writer.uint32(11 << 3).uint64(long);
    if (double !== undefined) writer.uint32((13 << 3) | 1).double(double);
    writer.ldelim();
  }
  return decodePayload(Buffer.from(writer.finish()));
}

function read(
  payload: ReturnType<typeof payloadOf>,
  birth: Fields[] | null = null,
  relative: boolean = true,
) {
  const batch = new MessageBatch({ receivedAt: NOW, oldest: 0, newest: NOW + 1e9, relative });
  const definitions = birth && definitionsOf(payloadOf(birth).metrics, NOW);
  const allKnown = readMetrics(payload, definitions, batch);
  const found = [...batch.sensors].flatMap(([sensor, { times, values }]) =>
    times.map((ts, at) => [sensor, ts - NOW, values[at]]),
  );
  return { allKnown, found, refused: batch.refused, counts: batch.counts };
}

describe('Sparkplug: time of a metric', () => {
  const metric = { name: 't', datatype: DOUBLE, double: 1 };

  test('Time of a Sparkplug metric: neither metric nor payload has a time: the receipt time is used', () => {
    expect(read(payloadOf([metric]))).toMatchObject({ found: [['t', 0, 1]], counts: { relative: 1 } });
    expect(read(payloadOf([metric]), null, false).refused).toMatchObject([
      { code: 'bad_timestamp', path: 'metrics[0].timestamp' },
    ]);
  });
});

describe('Sparkplug: name and type of a metric', () => {
  const birth = [
    { name: 't', alias: 1, datatype: DOUBLE },
    { name: 'text', alias: 2, datatype: STRING },
    { name: 'Node Control/Rebirth', alias: 3, datatype: BOOLEAN },
  ];

  test.each([
    [{ double: 1 }, 'metrics[0].name', 'is missing, and there is no alias'],
    [{ alias: 9, double: 1 }, 'metrics[0].alias', 'must be one that a birth defines'],
    [{ name: 'x', int: 1 }, 'metrics[0].datatype', 'must be given here or in a birth'],
  ])('Sparkplug metric: %j: refused as unknown_sensor, with path and rule', (metric, path, rule) => {
    const { refused, allKnown } = read(payloadOf([metric], NOW), birth);
    expect([refused, allKnown]).toEqual([[{ index: 0, code: 'unknown_sensor', path, rule }], false]);
  });

  test('Sparkplug metric: its alias means a text or a command in the birth: skipped, not refused', () => {
    const { counts, allKnown, refused } = read(
      payloadOf(
        [
          { alias: 2, int: 1 },
          { alias: 3, int: 1 },
        ],
        NOW,
      ),
      birth,
    );
    expect([counts.skipped, allKnown, refused]).toEqual([2, true, []]);
  });

  test('Sparkplug metric: its name is not in the birth: stored, and the message is reported as incomplete', () => {
    const { allKnown, found } = read(
      payloadOf(
        [
          { name: 'new', double: 1 },
          { alias: 1, double: 2 },
        ],
        NOW,
      ),
      birth,
    );
    expect([allKnown, found]).toEqual([
      false,
      [
        ['new', 0, 1],
        ['t', 0, 2],
      ],
    ]);
  });

  test('Sparkplug metric: its data type differs from that in the birth: the data type of the metric is used', () => {
    expect(read(payloadOf([{ alias: 1, datatype: 1, int: 255 }], NOW), birth).found).toEqual([['t', 0, -1]]);
  });
});

test('Sparkplug birth: protocol metrics, texts, repeated names and metrics without a name: no sensors are registered', () => {
  const payload = payloadOf([
    { name: 'bdSeq', datatype: UINT64, long: 1 },
    { alias: 1, datatype: DOUBLE, double: 1 },
    { name: 'Device Control/Reboot', datatype: BOOLEAN },
    { name: 'text', datatype: STRING },
    { name: 'no type at all' },
    { name: 't', datatype: DOUBLE },
    { name: 't', datatype: BOOLEAN },
    { name: 'implied', double: 1 },
  ]);
  const { sensors, refused } = readBirthCertificate(payload, DEVICE, NOW);
  expect(sensors.map(({ index, name, type, unit }) => [index, name, type, unit])).toEqual([
    [5, 't', 'Double', undefined],
    [7, 'implied', 'Double', undefined],
  ]);
  expect(refused).toEqual([]);
});

test('Sparkplug birth: a metric name is too long: the other metrics become sensors', () => {
  const payload = payloadOf([
    { name: 'x'.repeat(129), datatype: DOUBLE },
    { name: 't', datatype: DOUBLE },
  ]);
  expect(readBirthCertificate(payload, DEVICE, NOW).sensors).toMatchObject([{ index: 1, name: 't' }]);
});

test.each([
  [[{ name: 'bdSeq', long: 0 }], 0],
  [[{ name: 'bdSeq', int: 255 }], 255],
  [[{ name: 'bdSeq' }], null],
  [[{ name: 'bdSeq', double: 0.5 }], null],
  [[{ name: 'other', long: 3 }], null],
  [[], null],
])('Sparkplug birth number bdSeq: metrics %j: bdSeq is %j', (metrics, expected) => {
  expect(bdSeqOf(payloadOf(metrics).metrics)).toBe(expected);
});

test('Sparkplug birth: unit in Windows-1252: the unit is refused, and the sensor has none', () => {
  const { metrics } = payloadOf([
    { name: 't', datatype: DOUBLE, double: 1 },
    { name: 'u', datatype: DOUBLE, double: 1 },
  ]);
  const units = ['\ufffdC', ''];
  const wrong = metrics.map((metric, index) => ({ ...metric, unit: units[index] ?? null }));
  const { sensors, refused } = readBirthCertificate(
    { timestamp: NOW, seq: 0, metrics: wrong, uuid: null, body: null },
    DEVICE,
    NOW,
  );
  expect(sensors.map(({ name, unit }) => [name, unit])).toEqual([
    ['t', undefined],
    ['u', undefined],
  ]);
  expect(refused).toEqual([
    {
      index: 0,
      code: 'bad_id',
      path: 'metrics[0].properties.engUnit',
      rule: expect.stringMatching(/^must be UTF-8/),
    },
  ]);
});
