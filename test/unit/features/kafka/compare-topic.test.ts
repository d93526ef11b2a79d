import { expect, test } from '@jest/globals';
import { createEncoder } from '../../../../api/features/kafka/encoder.ts';
import {
  type Identity,
  identifyDevice,
  identifySensor,
  type SensorIdentity,
} from '../../../../schema/ids.ts';
import { packBlock } from '../../../../schema/packed/block.ts';
import { digestOf } from '../../../../schema/packed/pack.ts';
import { compareTopic, findDisorder, TopicContents } from '../../../../simulator/verify/topic.ts';
import { useCleanUps } from '../../../support/clean-ups.ts';
import {
  createLedgerCase,
  expectFindings,
  HOUR_MS,
  type Samples,
  START,
} from '../../../support/simulator/ledger-case.ts';

const afterwards = useCleanUps();

const device = identifyDevice('collar') as Identity;
const sensorOf = (name: string) => identifySensor(device.id, name) as SensorIdentity;

function recordOf(
  sensors: Record<string, Samples>,
  { source = 'hot', format = 'packed' }: { source?: string; format?: 'json' | 'packed' } = {},
) {
  const entries = Object.entries(sensors);
  const samples = packBlock(
    START,
    entries.map(([name, all]) => ({
      sensor: sensorOf(name).bytes,
      times: all.map(([ts]) => ts),
      values: all.map(([, value]) => value),
      from: 0,
      to: all.length,
    })),
  );
  const block = { bucket: START, digest: digestOf(samples), samples, committedAt: START, late: false };
  const names = { id: device.id, name: device.name, sensor: () => null };
  const [value] = createEncoder({ format, explode: false })(block, names);
  const headers = { source, format, bucket: String(START) };
  return {
    key: device.id,
    value: value as Buffer,
    headers: new Map(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)])),
  };
}

const watermark = (shard: number, shards: number, until: number, ofBatches?: number) => ({
  value: Buffer.from(
    JSON.stringify({
      shard,
      shards,
      until: new Date(until).toISOString(),
      topics: ofBatches === undefined ? {} : { batches: new Date(ofBatches).toISOString() },
    }),
  ),
});

test.each(['packed', 'json'] as const)(
  'Samples read from Kafka: format %s: grouped by sensor, with number and source of their records',
  (format) => {
    const contents = new TopicContents();
    const records = [
      recordOf({ pulse: [[START, 60]], heat: [[START, 38.5]] }, { format }),
      recordOf(
        {
          pulse: [
            [START + 1, 61],
            [START + 2, 62],
          ],
        },
        { format, source: 'completion' },
      ),
    ];
    expect(records.map((record) => contents.addBatch(record))).toEqual([1, 2]);
    expect([...contents.topic.keys()]).toEqual([device.id]);
    const sensors = contents.topic.get(device.id);
    expect(sensors?.get(sensorOf('pulse').id)).toEqual({
      times: [START, START + 1, START + 2],
      values: [60, 61, 62],
      records: [1, 2, 2],
      hot: [true, false, false],
    });
    expect(sensors?.get(sensorOf('heat').id)).toEqual({
      times: [START],
      values: [38.5],
      records: [1],
      hot: [true],
    });
  },
);

function untilOf(...records: ReturnType<typeof watermark>[]) {
  const contents = new TopicContents();
  for (const record of records) contents.addWatermark(record);
  return contents.until;
}

test('Watermark in Kafka: one of two shards has no watermark: the result is null', () => {
  expect(untilOf(watermark(0, 2, START))).toBeNull();
});

test('Watermark in Kafka: the watermark has a separate time for the batches topic: this time is the result', () => {
  expect(untilOf(watermark(0, 1, START, START + 7))).toBe(START + 7);
});

// A sample is a character, the millisecond after START, or with an apostrophe that of the next hour, and a number: of its record or
// message. "-" before it: the record is one of the completion. "@" is the millisecond before START.
const parse = (samples: string) =>
  samples.split(' ').flatMap((text) => {
    const [, late, character = '', hour, number] = /^(-?)([@A-C])('?)(\d)$/.exec(text) ?? [];
    const ts = START + character.charCodeAt(0) - 'A'.charCodeAt(0) + (hour ? HOUR_MS : 0);
    return number ? [{ ts, number: Number(number), hot: !late }] : [];
  });
const IN_ORDER = 'A1 B2 C3';

test.each([
  ['no record is streamed', '', IN_ORDER, null],
  ['one record per message, in order', 'A1 B2 C3', IN_ORDER, null],
  ['the record of the second message before that of the first', 'B1 A2', IN_ORDER, 'A'],
  ['the record of the third message before that of the second', 'A1 C2 B3', IN_ORDER, 'B'],
  ['one record has all messages in any order', 'C1 A1 B1', IN_ORDER, null],
  ['a record of two messages, then one of an earlier message', 'B1 C1 A2', IN_ORDER, 'A'],
  ['a later record has two messages in any order', 'A1 C2 B2', IN_ORDER, null],
  ['a record is repeated', 'A1 B2 A3', IN_ORDER, null],
  ['a late record of the completion', 'B1 -A2', IN_ORDER, null],
  ['a late record of the completion, then a late hot record', 'B1 -A2 A3', IN_ORDER, 'A'],
  ['a sample that is not in the ledger', 'C1 @2', IN_ORDER, null],
  ['a sample is sent again later: its first message counts', 'B1 A2', `${IN_ORDER} A4`, 'A'],
  [
    'the ledger lists the later message of a sample first: the earlier message counts',
    'B1 A2',
    'A4 B2 A1',
    'A',
  ],
  [
    'a time was sent by a later and by an earlier message, and the records are in order',
    'A1 B2',
    'A9 A1 B2',
    null,
  ],
  ['records of different hours are in reverse order', "A'1 A2", "A1 A'2", null],
  ['records that alternate between hours', "A1 A'2 B3", "A1 A'3 B2", null],
  ['two samples of one message in two records', 'A1 B2', 'A1 B1', null],
])('Order of Kafka records: %s: the first sample out of order, or null', (_, records, messages, expected) => {
  const streamed = parse(records);
  const sent = parse(messages);
  const found = findDisorder(
    {
      times: streamed.map(({ ts }) => ts),
      values: streamed.map(() => 1),
      records: streamed.map(({ number }) => number),
      hot: streamed.map(({ hot }) => hot),
    },
    {
      times: sent.map(({ ts }) => ts),
      values: sent.map(() => 1),
      messages: sent.map(({ number }) => number),
    },
  );
  expect(found).toBe(expected && parse(`${expected}0`)[0]?.ts);
});

/** Creates a ledger, and the Kafka records of its messages. */
function createCase() {
  const fleet = createLedgerCase(afterwards);
  const contents = new TopicContents();
  for (const at of [START, START + 1000, START + 2000]) {
    fleet.send('collar', 'pulse', [[at, 60]]);
    fleet.send('collar', 'heat', [[at, 38.5]]);
    contents.addBatch(recordOf({ pulse: [[at, 60]], heat: [[at, 38.5]] }));
  }
  return {
    fleet,
    contents,
    compare(options: Partial<Parameters<typeof compareTopic>[0]> = {}) {
      fleet.open();
      const { ledgerPath } = fleet;
      return compareTopic({ ledgerPath, topic: contents.topic, range: { to: START + 3000 }, ...options });
    },
  };
}

test('Comparison with Kafka: a record has a sample that is not in the ledger: reported as unknown', async () => {
  const { contents, compare } = createCase();
  contents.addBatch(recordOf({ pulse: [[START + 1, 60]] }));
  expectFindings(await compare(), { unknown: 1 });
});

test('Comparison with Kafka: the record of an earlier message comes after that of a later one: reported as disorder', async () => {
  const { fleet, contents, compare } = createCase();
  fleet.send('collar', 'pulse', [[START + 10, 1]]);
  fleet.send('collar', 'pulse', [[START + 20, 2]]);
  contents.addBatch(recordOf({ pulse: [[START + 20, 2]] }));
  contents.addBatch(recordOf({ pulse: [[START + 10, 1]] }));
  const result = await compare();
  expectFindings(result, { disorder: 1 });
  expect(result.found.disorder.first).toEqual([
    {
      device: 'collar',
      sensor: 'pulse',
      ts: START + 10,
      message: 'its record comes after one of a later message',
    },
  ]);
});
