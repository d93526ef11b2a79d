import { expect, test } from '@jest/globals';
import { SCHEMAS } from '../../../api/http/contract/schemas/index.ts';
import { latestItem } from '../../../api/http/items.ts';
import { createDelta, createSnapshot } from '../../../api/http/stream/frames.ts';
import { LatestCache } from '../../../api/http/stream/latest-cache.ts';
import type { LiveItem } from '../../../api/live/messages.ts';

const NOW = Date.parse('2026-11-21T00:00:00.000Z');
/** The value of `performance.now()`, in ms. */
const ELAPSED = 1_000_000;
const UNTIL = { channel: '0123456789abcdef', position: 2000 };

const itemOf = (sensor: string, ts: number): LiveItem => ({
  device_id: 'd',
  sensor_id: sensor,
  device: null,
  name: null,
  type: null,
  unit: null,
  site: null,
  ts: new Date(ts).toISOString(),
  value: ts,
});

const dataOf = (frame: Buffer) => JSON.parse(/data: (.*)/.exec(String(frame))?.[1] ?? '');

const delta = (cache: LatestCache, index: number = 0) =>
  dataOf(
    createDelta(
      cache.since(0),
      UNTIL,
      () => NOW,
      () => ELAPSED,
    ).frame(index),
  );

const age = ({ sent_at, committed_at }: { sent_at: string; committed_at: string }) =>
  Date.parse(sent_at) - Date.parse(committed_at);

test('Delta event of the live stream: several values: committed_at is the oldest commit time, sent_at is the time of sending', () => {
  const cache = new LatestCache();
  cache.update(itemOf('a', 1), ELAPSED - 200);
  cache.update(itemOf('b', 1), ELAPSED - 5000);
  cache.update(itemOf('c', 1), ELAPSED - 100);
  const data = delta(cache);
  expect(data.sent_at).toBe('2026-11-21T00:00:00.000Z');
  expect(age(data)).toBe(5000);
});

test('Delta event of the live stream: values come from the database: committed_at is null', () => {
  const cache = new LatestCache();
  cache.update(itemOf('a', 1), ELAPSED - 5000);
  cache.refresh(itemOf('a', 2), cache.position);
  expect(delta(cache).committed_at).toBe(null);
  cache.refresh(itemOf('b', 1), cache.position);
  cache.update(itemOf('c', 1), ELAPSED - 100);
  expect(age(delta(cache))).toBe(100);
});

test('Delta event of the live stream: changes are split into several events: each has the commit time of its own values', () => {
  const cache = new LatestCache();
  for (let i = 0; i < 400; i++) cache.update(itemOf(`s${i}`, 1), ELAPSED - (i < 250 ? 9000 : 0));
  expect(age(delta(cache, 0))).toBe(9000);
  expect(age(delta(cache, 1))).toBe(0);
});

test('Snapshot event of the live stream: the sensor announced no interval: no interval_ms', () => {
  const cache = new LatestCache();
  const ids = {
    deviceId: '0b61a3c4-8a0e-5a43-9d57-7b2c8f0f6c11',
    id: '5a7e0d3b-3a0f-5c1f-8f0a-2d7a51c0b6ee',
  };
  const labels = { deviceName: 'd', name: 's', type: null, unit: null, site: null };
  const itemWith = (intervalMs: number | null) =>
    latestItem({ ...ids, ...labels, intervalMs, ts: NOW, value: 1 } as never);
  cache.refresh(itemWith(900_000), 0);
  const data = dataOf(createSnapshot(cache.all(), UNTIL).frame(0));
  expect(SCHEMAS.Snapshot.safeParse(data).error).toBeUndefined();
  expect(data.items[0].interval_ms).toBe(900_000);
  cache.refresh(itemWith(null), cache.position);
  expect(dataOf(createSnapshot(cache.all(), UNTIL).frame(0)).items[0]).not.toHaveProperty('interval_ms');
});
