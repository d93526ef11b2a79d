import { describe, expect, test } from '@jest/globals';
import type { PublishPacket } from 'aedes';
import {
  type GrantedFilter,
  matchesFilter,
  RetainedMessages,
} from '../../../../api/mqtt/embedded/retained.ts';

const STATE = 'spBv1.0/STATE/millrace';
const OTHER_STATE = 'spBv1.0/STATE/other';
const STATUSES = ['a', 'b', '', '+', 'status'].map((device) => `iot/v1/${device}/status`);

const packet = (topic: string, text: string = 'online') =>
  ({
    cmd: 'publish',
    topic,
    payload: Buffer.from(text),
    qos: 1,
    retain: true,
    dup: false,
  }) as PublishPacket;

function retain(topics: string[]) {
  const retained = new RetainedMessages();
  for (const topic of topics) retained.store(packet(topic));
  return retained;
}

/** @returns filters with granted QoS 2 */
const granted = (filters: string[]): GrantedFilter[] => filters.map((filter) => [filter, 2]);

async function topicsOf(retained: RetainedMessages, ...filters: string[]) {
  const topics = [];
  for await (const { topic } of retained.matching(granted(filters))) topics.push(topic);
  return topics;
}

test('Retained messages: a status message of a few bytes is stored: its payload and correlation data are copied out of the Node.js buffer pool', async () => {
  const retained = new RetainedMessages();
  const properties = { correlationData: Buffer.from('12') };
  retained.store({ ...packet('iot/v1/d/status'), properties });
  for await (const message of retained.matching(granted(['iot/v1/d/status']))) {
    expect(message.payload.buffer.byteLength).toBe(6);
    expect(message.properties?.correlationData?.buffer.byteLength).toBe(2);
    return;
  }
  throw new Error('The status is not retained.');
});

describe('Retained: a filter: the same result as a search of all', () => {
  const all = [...STATUSES, STATE, OTHER_STATE];
  const retained = retain(all);
  test.each([
    '#',
    '+/#',
    '+/+/+/+',
    '+/+/+',
    'iot/#',
    'iot/v1/#',
    'iot/v1/+/status',
    'iot/+/a/#',
    'iot/v1/a/#',
    'iot/v1/a/+',
    'iot/v1/a/+/#',
    'iot/v1/a/status',
    'iot/v1/a/status/#',
    'iot/v1/a/birth',
    'iot/v1/a',
    'iot/v1/+',
    'iot/v1//#',
    'iot/v1//status',
    'spBv1.0/#',
    'spBv1.0/STATE/+',
    'spBv1.0/+/millrace',
    STATE,
    'spBv1.0/plant/NCMD/edge',
    'spBv1.0/plant/DCMD/edge/+',
    'elsewhere/#',
  ])('Retained messages: filter %s: the search finds exactly the matching topics', async (filter) => {
    const found = await topicsOf(retained, filter);
    expect(found.sort()).toEqual(all.filter((topic) => matchesFilter(filter, topic)).sort());
  });
});

test('Retained messages: 100,001 status messages are stored: the oldest is removed; an empty payload: its topic is removed', async () => {
  const retained = retain([STATE]);
  for (let at = 0; at < 100_000; at++) retained.store(packet(`iot/v1/${at}/status`));
  retained.store(packet('iot/v1/0/status', 'offline'));
  retained.store(packet('iot/v1/one more/status'));
  expect(await topicsOf(retained, 'iot/v1/0/#', 'iot/v1/1/#', STATE)).toEqual(['iot/v1/0/status', STATE]);
  retained.store(packet('iot/v1/0/status', ''));
  expect(await topicsOf(retained, 'iot/v1/0/#')).toEqual([]);
});

describe('Retained: many messages', () => {
  const retained = retain([STATE, ...Array.from({ length: 50_000 }, (_, at) => `iot/v1/${at}/status`)]);

  /** @returns turns of the event loop during the search */
  async function turnsDuring(...filters: string[]): Promise<number> {
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await topicsOf(retained, ...filters);
    isOver = true;
    return turns;
  }

  test('Retained messages: a client subscribes to everything: the event loop still turns during the search', async () => {
    expect(await turnsDuring('+/+/+/nothing', '+/v1/+/nothing')).toBeGreaterThan(50);
  });

  test.each(['iot/v1/7/#', 'iot/v1/7/+', 'iot/v1/7', 'spBv1.0/STATE/+', 'spBv1.0/plant/DCMD/edge/+'])(
    'Retained messages: filter %s: the search checks only messages that may match',
    async (filter) => {
      // A check of all messages takes more than 25 turns for each filter.
      expect(await turnsDuring(...Array.from({ length: 1000 }, () => filter))).toBeLessThan(50);
    },
  );
});
