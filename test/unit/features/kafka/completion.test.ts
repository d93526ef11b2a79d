import { expect, test } from '@jest/globals';
import { createCompletion } from '../../../../api/features/kafka/completion/index.ts';
import { TopicRefused } from '../../../../schema/kafka/index.ts';
import { closingOf, HOUR_MS } from '../../../../schema/rules.ts';

const HOUR = Date.UTC(2026, 4, 1, 10);
const device = Buffer.alloc(16, 7);
const digest = (number: number) => Buffer.alloc(8, number);

/** @param bytes size of the samples */
const block = (number: number, bytes: number = 4) => ({
  part: 0,
  ts: HOUR + number,
  digest: digest(number),
  samples: Buffer.alloc(bytes),
  writtenAt: HOUR,
});

/**
 * Creates a completion for one device with two blocks.
 * @param found blocks that a read of the database returns
 * @param options `noted`: blocks that were sent; `late`: hours with late messages, epoch ms
 */
function createOver(
  found: Array<ReturnType<typeof block>>,
  {
    noted = [],
    sendsLatest = false,
    late = [],
  }: { noted?: number[]; sendsLatest?: boolean; late?: number[] } = {},
) {
  const clock = { now: closingOf(HOUR) };
  const sent: string[] = [];
  let until = HOUR;
  const topics: Map<string, number> = new Map();
  const refusing: Set<string> = new Set();
  const watermarks: unknown[] = [];
  /** records that were sent before each block was encoded */
  const sentBefore: number[] = [];
  const page = async (items: unknown[]) => ({ items });
  const deps = {
    store: {
      devices: { device: async () => null, sensors: async () => [] },
      fleet: { latestOfDevice: async () => [{ ts: HOUR, value: 1 }] },
    },
    streaming: {
      digests: async () => new Set([1, 2].map((number) => digest(number).toString('hex'))),
      notes: async () => new Set(noted.map((number) => digest(number).toString('hex'))),
      parts: async () => [0],
      blockPage: () => page(found),
      devicePage: () => page([device]),
      lateArrivalPage: () => page(late.map((bucket) => ({ device, bucket }))),
      outboxPage: () => page([]),
      writeNote: async () => {},
      streamedUntil: async () => until,
      topicsUntil: async () => new Map(topics),
      writeTopic: async (_group: number, topic: string, to: number) => {
        topics.set(topic, to);
      },
      writeStreamed: async (_group: number, to: number) => {
        until = to;
      },
    },
    groups: 1,
    clock: { now: async () => clock.now },
    steps: { run: (work: () => Promise<unknown>) => work(), stopped: false },
    leases: { hold: (_group: number, work: () => Promise<void>) => work() },
    sender: {
      send: async (records: Array<{ key: string; topic: string }>) => {
        const refused = records.find(({ topic }) => refusing.has(topic));
        if (refused) throw new TopicRefused(refused.topic, 'Unknown topic');
        sent.push(...records.map(({ key }) => key));
        return true;
      },
    },
    schemas: { load: async () => null },
    records: {
      ofBlock: ({ digest: of }: { digest: Buffer }) => {
        sentBefore.push(sent.length);
        return [{ topic: 'batches', key: of.toString('hex'), value: Buffer.alloc(1) }];
      },
      ofLatest: () => ({ topic: 'latest', key: 'latest', value: Buffer.alloc(1) }),
      ofWatermark: (watermark: unknown) => {
        watermarks.push(watermark);
        return { topic: 'watermarks', key: 'watermark', value: Buffer.alloc(1) };
      },
    },
    notes: { writeBefore: async () => {} },
    sendsLatest,
    observer: { onCompleted: () => {}, onStreamed: () => {} },
  };
  const completion = createCompletion(deps as never);
  return { completion, clock, sent, sentBefore, refusing, watermarks, topics, until: () => until };
}

test('Kafka completion of an hour: two blocks were not sent: both blocks are sent, then the watermark', async () => {
  const { completion, sent, until } = createOver([block(1), block(2)]);
  await completion.completeDue();
  expect(sent).toEqual(['0101010101010101', '0202020202020202', 'watermark']);
  expect(until()).toBe(HOUR + HOUR_MS);
});

test('Kafka completion of an hour: large blocks: each block is sent before the next block is encoded', async () => {
  const { completion, sent, sentBefore } = createOver([block(1, 128 * 1024), block(2, 128 * 1024)]);
  await completion.completeDue();
  expect(sentBefore).toEqual([0, 1]);
  expect(sent).toEqual(['0101010101010101', '0202020202020202', 'watermark']);
});

test('Kafka completion of an hour: one of two unsent blocks is not found: no watermark is sent, the next check reads again', async () => {
  const found = [block(1)];
  const { completion, sent, until } = createOver(found);
  await expect(completion.completeDue()).rejects.toThrow('1 of 2 missing blocks');
  expect(sent).not.toContain('watermark');
  expect(until()).toBe(HOUR);
  found.push(block(2));
  await completion.completeDue();
  expect(sent.at(-1)).toBe('watermark');
});

test('Kafka completion of an hour: Kafka refuses a topic: other topics and their watermark advance, the refused topic follows later', async () => {
  const { completion, sent, refusing, watermarks, until } = createOver([block(1), block(2)]);
  refusing.add('batches');
  await completion.completeDue();
  const end = HOUR + HOUR_MS;
  const others = { events: end, 'dead-letters': end, alarms: end, corrections: end };
  expect(sent).toEqual(['watermark']);
  expect(watermarks).toEqual([{ shard: 0, shards: 1, until: HOUR, topics: { batches: HOUR, ...others } }]);
  expect(until()).toBe(HOUR);
  refusing.clear();
  await completion.completeDue();
  expect(sent.slice(1)).toEqual(['0101010101010101', '0202020202020202', 'watermark']);
  expect(watermarks.at(-1)).toMatchObject({ until: end, topics: { batches: end, ...others } });
  expect(until()).toBe(end);
});

test('Kafka completion of an hour: Kafka refuses the topic of watermarks: other topics are completed, the watermark is sent later', async () => {
  const { completion, sent, refusing, until } = createOver([block(1), block(2)]);
  refusing.add('watermarks');
  await completion.completeDue();
  expect(sent).toEqual(['0101010101010101', '0202020202020202']);
  expect(until()).toBe(HOUR + HOUR_MS);
  refusing.clear();
  await completion.completeDue();
  await completion.completeDue();
  expect(sent.slice(2)).toEqual(['watermark']);
});

test('Kafka completion of an hour: a device has late messages for several hours: its latest values are sent once', async () => {
  const { completion, sent, topics } = createOver([block(1), block(2)], {
    noted: [1, 2],
    sendsLatest: true,
    late: [HOUR - HOUR_MS, HOUR - 2 * HOUR_MS],
  });
  topics.set('latest', HOUR);
  await completion.completeDue();
  expect(sent).toEqual(['latest', 'watermark']);
});

test.each([
  ['which was complete before', HOUR],
  ['which was never complete', undefined],
])('Kafka completion of an hour: Kafka refuses topic latest, %s: it stays behind', async (_, complete) => {
  const { completion, clock, sent, refusing, topics } = createOver([block(1), block(2)], {
    noted: [1, 2],
    sendsLatest: true,
  });
  if (complete) topics.set('latest', complete);
  refusing.add('latest');
  await completion.completeDue();
  expect(sent).toEqual(['watermark']);
  expect(topics.get('batches')).toBe(HOUR + HOUR_MS);
  expect(topics.get('latest')).toBe(complete);
  refusing.clear();
  clock.now += HOUR_MS;
  await completion.completeDue();
  expect(sent).toEqual(['watermark', 'latest', 'watermark']);
  expect(topics.get('latest')).toBe(HOUR + 2 * HOUR_MS);
});
