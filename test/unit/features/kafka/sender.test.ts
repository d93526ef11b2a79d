import { expect, test } from '@jest/globals';
import pino from 'pino';
import { KafkaSender } from '../../../../api/features/kafka/sender.ts';
import { TopicRefused } from '../../../../schema/kafka/index.ts';

const TOPIC = 'millrace.batches.v1';
/** Error codes of Kafka. */
const [NOT_ENOUGH_REPLICAS, MESSAGE_TOO_LARGE] = [19, 10];

type Message = { key: Buffer; value: Buffer };

/** @param text key of the record and a number, such as `a1` */
const recordOf = (text: string) => ({
  topic: TOPIC,
  key: Buffer.from(text.slice(0, 1)),
  value: Buffer.from(text),
  headers: new Map(),
});

/** Creates a sender, and lists of the requests and of the records that Kafka accepted. */
function createSender({
  refuse,
  waitsForTopics,
}: {
  /** Kafka's error code for a request; undefined: accepted */
  refuse: (texts: string[]) => number | undefined;
  waitsForTopics?: boolean;
}) {
  const requests: string[][] = [];
  const taken: string[] = [];
  const createProducer = () => ({
    async send({ messages }: { messages: Message[] }) {
      const texts = messages.map(({ value }) => String(value));
      requests.push(texts);
      const code = refuse(texts);
      if (code === undefined) return;
      throw Object.assign(new Error(`error ${code}`), {
        findBy: (_name: string, value: number) => value === code,
      });
    },
    close: async () => {},
  });
  const sender = new KafkaSender({
    options: {} as never,
    logger: pino({ level: 'silent' }),
    onSent: (records) => taken.push(...records.map(({ value }) => String(value))),
    onFailure: () => {},
    waitsForTopics,
    createProducer: createProducer as never,
  });
  return { sender, requests, taken };
}

test('Kafka sender: one partition refuses records: records of other partitions are sent once more, in order', async () => {
  let refusals = 4;
  const { sender, requests, taken } = createSender({
    refuse: (texts) => (texts.includes('b1') && refusals-- > 0 ? NOT_ENOUGH_REPLICAS : undefined),
  });
  expect(await sender.send(['a1', 'b1', 'a2', 'c1', 'b2'].map(recordOf))).toBe(true);
  expect(requests[0]).toEqual(['a1', 'b1', 'a2', 'c1', 'b2']);
  expect(requests.slice(1).filter((texts) => !texts.includes('b1'))).toEqual([['a1', 'a2'], ['c1']]);
  expect(requests).toHaveLength(7);
  expect(taken).toEqual(['a1', 'a2', 'c1', 'b1', 'b2']);
  expect(sender.failingForMs).toBe(0);
});

test('Kafka sender: a request with 1,000 keys fails once: fewer than 15 requests send each record once', async () => {
  let failures = 1;
  const { sender, requests, taken } = createSender({
    refuse: () => (failures-- > 0 ? NOT_ENOUGH_REPLICAS : undefined),
  });
  const records = Array.from({ length: 1000 }, (_, key) => ({
    ...recordOf('a'),
    key: Buffer.from(String(key)),
    value: Buffer.from(String(key)),
  }));
  expect(await sender.send(records)).toBe(true);
  expect(taken).toEqual(records.map(({ value }) => String(value)));
  expect(requests.length).toBeLessThan(15);
});

test('Kafka sender: a request is too large: smaller requests send each record once, in order', async () => {
  const { sender, requests, taken } = createSender({
    refuse: (texts) => (texts.length > 2 ? MESSAGE_TOO_LARGE : undefined),
    waitsForTopics: false,
  });
  const texts = ['a1', 'a2', 'a3', 'a4', 'a5'];
  expect(await sender.send(texts.map(recordOf))).toBe(true);
  expect(taken).toEqual(texts);
  expect(requests.map(({ length }) => length)).toEqual([5, 3, 2, 2, 1]);
  expect(sender.failingForMs).toBe(0);
});

test('Kafka sender: one record is too large by itself: TopicRefused is thrown', async () => {
  const { sender, taken } = createSender({
    refuse: (texts) => (texts.includes('a2') ? MESSAGE_TOO_LARGE : undefined),
    waitsForTopics: false,
  });
  const sent = sender.send(['a1', 'a2', 'a3'].map(recordOf));
  await expect(sent).rejects.toThrow(TopicRefused);
  expect(taken).toEqual(['a1']);
});
