import { expect, test } from '@jest/globals';
import pino from 'pino';
import { KafkaSender, TopicRefused } from '../../../api/stream-out/kafka/sender.js';

const TOPIC = 'millrace.batches.v1';
/** Errors of Kafka, by code. */
const [NOT_ENOUGH_REPLICAS, MESSAGE_TOO_LARGE] = [19, 10];

/** @typedef {{ key: Buffer, value: Buffer }} Message */

/** @param {string} text its key and a number, such as `a1` */
const recordOf = (text) => ({
  topic: TOPIC,
  key: Buffer.from(text.slice(0, 1)),
  value: Buffer.from(text),
  headers: new Map(),
});

/**
 * A sender, and what Kafka gets from it.
 *
 * @param {object} options
 * @param {(texts: string[]) => number | undefined} options.refuse the code of Kafka's error for a request; undefined: it takes the request
 * @param {boolean} [options.waitsForTopics]
 */
function createSender({ refuse, waitsForTopics }) {
  /** @type {string[][]} */
  const requests = [];
  /** @type {string[]} */
  const taken = [];
  const createProducer = () => ({
    async send(/** @type {{ messages: Message[] }} */ { messages }) {
      const texts = messages.map(({ value }) => String(value));
      requests.push(texts);
      const code = refuse(texts);
      if (code === undefined) return;
      throw Object.assign(new Error(`error ${code}`), {
        findBy: (/** @type {string} */ _name, /** @type {number} */ value) => value === code,
      });
    },
    close: async () => {},
  });
  const sender = new KafkaSender({
    options: /** @type {any} */ ({}),
    logger: pino({ level: 'silent' }),
    onSent: (records) => taken.push(...records.map(({ value }) => String(value))),
    onFailure: () => {},
    waitsForTopics,
    createProducer: /** @type {any} */ (createProducer),
  });
  return { sender, requests, taken };
}

test('KafkaSender: one partition refuses records: those of other partitions are sent once more, in order', async () => {
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

test('KafkaSender: a request with 1,000 keys fails once: few requests have them all, each once', async () => {
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

test('KafkaSender: records are too large together: smaller requests have each of them once, in order', async () => {
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

test('KafkaSender: one record is too large by itself: the topic is refused', async () => {
  const { sender, taken } = createSender({
    refuse: (texts) => (texts.includes('a2') ? MESSAGE_TOO_LARGE : undefined),
    waitsForTopics: false,
  });
  const sent = sender.send(['a1', 'a2', 'a3'].map(recordOf));
  await expect(sent).rejects.toThrow(TopicRefused);
  expect(taken).toEqual(['a1']);
});
