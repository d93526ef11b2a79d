import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { PublishPacket } from 'aedes';
import fc from 'fast-check';
import { filterOf, type GrantedFilter, RetainedMessages } from '../../../../api/mqtt/embedded/retained.ts';
import { RetainedSearches } from '../../../../api/mqtt/embedded/retained-searches.ts';

const TOPICS = Array.from({ length: 40 }, (_, index) => `iot/v1/${index}/status`);
const FILTERS = ['#', 'iot/v1/+/status', 'iot/v1/1/#', 'iot/v1/2/status', 'elsewhere/#'];

function retain(topics: string[]) {
  const retained = new RetainedMessages();
  for (const topic of topics) {
    const packet = { cmd: 'publish', topic, payload: Buffer.from('on'), qos: 0, retain: true, dup: false };
    retained.store(packet as PublishPacket);
  }
  return retained;
}

/** Opens a connection whose searches are read like aedes reads them. Each delivered topic is recorded. */
function openSearches({ topics = TOPICS } = {}) {
  const closing = new AbortController();
  const searches = new RetainedSearches(retain(topics), closing.signal);
  const delivered: Array<{ search: number; topic: string }> = [];
  const ends: Array<Promise<void>> = [];
  return {
    searches,
    delivered,
    close: () => closing.abort(),
    ended: () => Promise.all(ends),
    search(filters: string[]): Promise<void> {
      const search = ends.length;
      const stream = searches.search(filters.map((filter) => [filter, 2] as GrantedFilter));
      const read = async () => {
        for await (const { topic } of stream) delivered.push({ search, topic });
      };
      const end = read();
      ends.push(end);
      return end;
    },
  };
}

test('Retained searches: one filter is subscribed 2,000 times: only the first and last search run, and at most one search waits', async () => {
  const connection = openSearches();
  for (let times = 0; times < 2000; times++) {
    void connection.search(['#']);
    expect(connection.searches.waiting).toBeLessThanOrEqual(1);
  }
  await connection.ended();
  expect([...new Set(connection.delivered.map(({ search }) => search))]).toEqual([0, 1999]);
  expect(connection.delivered).toHaveLength(2 * TOPICS.length);
});

test('Retained searches: the connection closes: the running search ends, waiting searches deliver nothing', async () => {
  const connection = openSearches({
    topics: Array.from({ length: 20_000 }, (_, index) => `iot/v1/${index}/status`),
  });
  void connection.search(['#']);
  void connection.search(['iot/v1/+/status']);
  while (connection.delivered.length === 0) await nextTurn();
  connection.close();
  void connection.search(['iot/#']);
  await connection.ended();
  // A stream reads 16 messages ahead.
  expect(connection.delivered.length).toBeLessThan(20_000 / 10);
  expect(new Set(connection.delivered.map(({ search }) => search))).toEqual(new Set([0]));
});

test('Retained searches: random SUBSCRIBE packets: the last search for a filter delivers every matching message', async () => {
  const packets = fc.array(
    fc.record({
      filters: fc.uniqueArray(fc.constantFrom(...FILTERS), { minLength: 1 }),
      turns: fc.nat(2),
    }),
    { minLength: 1, maxLength: 12 },
  );
  await fc.assert(
    fc.asyncProperty(packets, async (sent) => {
      const connection = openSearches();
      const last: Map<string, number> = new Map();
      for (const [search, { filters, turns }] of sent.entries()) {
        void connection.search(filters);
        for (const filter of filters) last.set(filter, search);
        for (let turn = 0; turn < turns; turn++) await nextTurn();
      }
      await connection.ended();
      expect(connection.searches.waiting).toBe(0);
      for (const [filter, search] of last) {
        const received = connection.delivered.filter((each) => each.search === search);
        const topics = new Set(received.map(({ topic }) => topic));
        for (const topic of TOPICS.filter(filterOf(filter))) expect(topics).toContain(topic);
      }
    }),
  );
});
