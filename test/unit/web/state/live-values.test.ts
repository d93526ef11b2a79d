import { expect, test } from '@jest/globals';
import { createChangeQueue, createRecentValues } from '../../../../web/state/frames.ts';

const item = (second: number, value: number, sensor: string = 's') => ({
  device_id: 'd',
  sensor_id: sensor,
  device: 'D',
  name: sensor,
  type: null,
  unit: null,
  site: null,
  ts: new Date(second * 1000).toISOString(),
  value,
});

test('Recent values of a sensor: older or repeated value: ignored; newer value: appended', () => {
  const values = createRecentValues();
  expect(values.take(item(10, 1))).toBe(true);
  expect(values.take(item(10, 1))).toBe(false);
  expect(values.take(item(9, 7))).toBe(false);
  expect(values.take(item(11, 2))).toBe(true);
  expect(values.get('d/s')?.item.value).toBe(2);
  expect(values.get('d/s')?.recent.map(({ value }) => value)).toEqual([1, 2]);
});

test('Recent values of a sensor: second value for the same instant: replaces the first', () => {
  const values = createRecentValues();
  values.take(item(10, 1));
  expect(values.take(item(10, 5))).toBe(true);
  expect(values.get('d/s')?.recent).toEqual([{ ts: 10_000, value: 5 }]);
});

test('Recent values of sensors: limits: 60 values per sensor; beyond 2000 sensors the longest silent one is removed', () => {
  const values = createRecentValues();
  for (let second = 0; second < 500; second += 1) values.take(item(second, second));
  expect(values.get('d/s')?.recent.length).toBeLessThanOrEqual(60);
  values.take(item(0, 0, 'silent'));
  for (let one = 0; one < 1998; one += 1) values.take(item(0, 0, `other-${one}`));
  values.take(item(501, 1));
  values.take(item(0, 0, 'one-more'));
  expect(values.get('d/silent')).toBeUndefined();
  expect(values.get('d/s')).toBeDefined();
});

test('Queue of changes: a sensor changes 100 times between two animation frames: subscribers are notified once', () => {
  const frames: (() => void)[] = [];
  const queue = createChangeQueue((run) => frames.push(run));
  const notified: string[] = [];
  const unsubscribe = queue.subscribe('a', () => notified.push('a'));
  queue.subscribe('b', () => notified.push('b'));

  for (let change = 0; change < 100; change += 1) queue.notify('a');
  expect(notified).toEqual([]);
  expect(frames).toHaveLength(1);
  frames.shift()?.();
  expect(notified).toEqual(['a']);

  unsubscribe();
  queue.notify('a');
  queue.notify('b');
  frames.shift()?.();
  expect(notified).toEqual(['a', 'b']);
});
