import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { ReceiptTimes } from '../../../api/ingest/receipt-times.js';
import { uuidText } from '../../../schema/ids.js';
import { startMemoryPipeline } from '../../support/memory-pipeline.js';

/** @import { MemoryPipeline } from '../../support/memory-pipeline.js' */

const NOW = Date.UTC(2026, 4, 5, 12);

const directory = mkdtempSync(join(tmpdir(), 'millrace-receipts-'));
const MQTT_MAPPINGS = join(directory, 'mappings.yaml');
writeFileSync(
  MQTT_MAPPINGS,
  "mappings:\n  - { name: farm, topic: 'farm/{device}/{sensor}', values: [{ pointer: '' }] }\n",
);
afterAll(() => rmSync(directory, { recursive: true }));

/** @type {MemoryPipeline} */
let pipeline;
afterEach(() => pipeline?.stop());

/** @param {Record<string, string>} [settings] */
async function start(settings) {
  pipeline = await startMemoryPipeline({ settings: { MQTT_MAPPINGS, ...settings }, clock: () => NOW });
  return pipeline;
}

/** @param {string} text line protocol */
const submitLines = (text) =>
  pipeline.ingest.submitLines({
    precision: 'ms',
    bytes: text.length,
    read: async () => Buffer.from(text),
    signal: new AbortController().signal,
  });

/** @returns {Promise<any[]>} all dead letters with their payloads */
async function deadLetters() {
  const range = { from: NOW - 5000, to: NOW + 5000 };
  const { deadLetters: rows } = await pipeline.store.deadLetters.page(range, { before: null, limit: 10 });
  return Promise.all(rows.map(({ id }) => pipeline.store.deadLetters.find(uuidText(id))));
}

describe('Messages of a device in the same ms, without a time: all values are stored', () => {
  test('MQTT', async () => {
    await start();
    for (const value of [1, 2, 3]) await pipeline.measure('d', [{ sensor_id: 's', value }]);
    await pipeline.measure('other', [{ sensor_id: 's', value: 4 }]);
    expect(await pipeline.samples('d', 's', NOW)).toEqual([
      [NOW, 1],
      [NOW + 1, 2],
      [NOW + 2, 3],
    ]);
    expect(await pipeline.samples('other', 's', NOW)).toEqual([[NOW, 4]]);
  });

  test('SenML with times that count from the receipt', async () => {
    await start();
    for (const v of [1, 2]) await pipeline.measure('d', [{ n: 's', v, t: -5 }]);
    expect(await pipeline.samples('d', 's', NOW - 5000)).toEqual([
      [NOW - 5000, 1],
      [NOW - 4999, 2],
    ]);
  });

  test('a mapped topic', async () => {
    await start();
    for (const value of ['1', '2.5', '3']) await pipeline.accept('farm/d/s', value);
    expect((await pipeline.samples('d', 's', NOW)).map(([, value]) => value)).toEqual([1, 2.5, 3]);
  });

  test('HTTP, JSON and line protocol', async () => {
    await start();
    for (const value of [1, 2]) await pipeline.submit('d', [{ sensor_id: 'm.s', value }]);
    for (const value of [3, 4]) await submitLines(`m,device=d s=${value}\nm,device=e s=${value}\n`);
    expect((await pipeline.samples('d', 'm.s', NOW)).map(([, value]) => value)).toEqual([1, 2, 3, 4]);
    expect((await pipeline.samples('e', 'm.s', NOW)).map(([, value]) => value)).toEqual([3, 4]);
  });
});

test('Messages of a device in the same ms, with times: nothing is moved', async () => {
  await start();
  for (const value of [1, 2]) await pipeline.measure('d', [{ sensor_id: 's', ts: NOW, value }]);
  await pipeline.measure('d', [{ sensor_id: 't', value: 3 }]);
  expect(await pipeline.samples('d', 's', NOW)).toHaveLength(1);
  expect(await pipeline.samples('d', 't', NOW)).toEqual([[NOW, 3]]);
});

test.each([
  ['a topic of the contract', 'iot/v1/d/measurements', (/** @type {number} */ value) => `{"s":${value}}`],
  ['a mapped topic', 'farm/d/s', String],
])(
  'Dead letters of %s in the same ms, without a time: replays store all values, each once',
  async (_, topic, payloadOf) => {
    await start({ AUTO_REGISTER: 'false' });
    for (const value of [1, 2, 3]) await pipeline.accept(topic, payloadOf(value));
    await pipeline.accept('iot/v1/d/birth', `{"session":${NOW},"sensors":[{"sensor_id":"s"}]}`);
    for (let round = 0; round < 2; round++) {
      for (const each of await deadLetters()) await pipeline.ingest.replay(each);
    }
    expect(await pipeline.samples('d', 's', NOW)).toEqual([
      [NOW, 1],
      [NOW + 1, 2],
      [NOW + 2, 3],
    ]);
  },
);

describe('ReceiptTimes', () => {
  test('a time that counts for several devices is free for each of them', () => {
    const times = new ReceiptTimes();
    expect(times.next(['a'], NOW)).toBe(NOW);
    expect(times.next(['a', 'b'], NOW)).toBe(NOW + 1);
    expect(times.next(['b'], NOW)).toBe(NOW + 2);
    expect(times.next(['a'], NOW + 7)).toBe(NOW + 7);
  });

  test('never more than a second ahead, also after the clock was set back', () => {
    const times = new ReceiptTimes();
    const given = Array.from({ length: 3000 }, () => times.next(['a'], NOW));
    expect(new Set(given).size).toBe(1001);
    expect(Math.max(...given)).toBe(NOW + 1000);
    expect(times.next(['a'], NOW - 3_600_000)).toBe(NOW - 3_600_000);
    expect(times.next(['a'], NOW - 3_600_000)).toBe(NOW - 3_599_999);
  });
});
