import { expect, test } from '@jest/globals';
import { UnmatchedTopics } from '../../../../api/features/mappings/unmatched-topics.ts';

const START = 1_795_000_000_000;

/** @param receivedAt epoch ms */
const messageOn = (topic: string, payload: string | Buffer = '1', receivedAt: number = START) => ({
  topic,
  payload: Buffer.from(payload),
  receivedAt,
});

test('List of unmatched topics: several messages: one entry per topic with count and last payload, newest first', () => {
  const topics = new UnmatchedTopics({ clock: () => START });
  topics.note(messageOn('a', 'first', START + 1));
  topics.note(messageOn('b', 'other', START + 2));
  topics.note(messageOn('a', 'second', START + 3));
  expect(topics.since).toBe(START);
  expect(topics.list()).toEqual([
    { topic: 'a', count: 2, seenAt: START + 3, size: 6, payload: Buffer.from('second') },
    { topic: 'b', count: 1, seenAt: START + 2, size: 5, payload: Buffer.from('other') },
  ]);
});

test('List of unmatched topics: more topics than the limit: the topic with the oldest message is removed', () => {
  const topics = new UnmatchedTopics({ clock: () => START, maxTopics: 3 });
  for (const topic of ['a', 'b', 'c', 'a', 'd']) topics.note(messageOn(topic));
  expect(topics.list().map(({ topic, count }) => [topic, count])).toEqual([
    ['d', 1],
    ['a', 2],
    ['c', 1],
  ]);
});

test('List of unmatched topics: payload of 1 MB: only its first 2 KiB stay in memory', () => {
  const topics = new UnmatchedTopics({ clock: () => START });
  const large = Buffer.alloc(1_000_000, 'x');
  topics.note(messageOn('a', large));
  const [kept] = topics.list();
  expect(kept).toMatchObject({ size: 1_000_000, payload: Buffer.alloc(2048, 'x') });
  expect(kept?.payload.buffer.byteLength).toBe(2048);
});

test('List of unmatched topics: topic of 60,000 characters: its first 511 characters are stored, with an ellipsis', () => {
  const topics = new UnmatchedTopics({ clock: () => START });
  topics.note(messageOn('t'.repeat(60_000)));
  topics.note(messageOn('t'.repeat(50_000)));
  expect(topics.list()).toEqual([expect.objectContaining({ topic: `${'t'.repeat(511)}…`, count: 2 })]);
});
