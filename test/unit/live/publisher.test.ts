import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Device, Sensor } from '../../../api/ingest/registry/cache.ts';
import type { LiveItem } from '../../../api/live/messages.ts';
import { Publisher } from '../../../api/live/publisher.ts';
import { until } from '../../support/until.ts';

let published: Array<{ device: string; items: LiveItem[]; committedAt: number }>;
let wanted = true;
let announceReader: () => void;
let publisher: Publisher;
beforeEach(() => {
  published = [];
  wanted = true;
  publisher = new Publisher(
    {
      isWanted: () => wanted,
      onWanted(listener) {
        announceReader = listener;
      },
      publish: (device, items, committedAt) => void published.push({ device, items, committedAt }),
    },
    { isAlways: false, publish() {}, publishSamples() {} },
  );
});
afterEach(() => publisher.stop());

const newDevice = (id: string) => ({ id, name: id }) as Device;
const newSensor = (id: string, value: number) =>
  ({
    id,
    name: null,
    ts: value,
    value,
  }) as Sensor;

const items = (at: number) => published[at]?.items.map(({ sensor_id, value }) => `${sensor_id} ${value}`);

test('Live publisher: first changes of a device after a pause: all changes of one event loop turn are published in that turn', async () => {
  const [a, b] = [newDevice('a'), newDevice('b')];
  publisher.publishChanges(a, [newSensor('s', 1)], []);
  publisher.publishChanges(b, [newSensor('s', 2)], []);
  publisher.publishChanges(a, [newSensor('t', 3)], []);
  await nextTurn();
  expect(published.map(({ device }) => device)).toEqual(['a', 'b']);
  expect([items(0), items(1)]).toEqual([['s 1', 't 3'], ['s 2']]);
});

test('Live publisher: a device changes often: the newest value of each sensor is published once per interval', async () => {
  const device = newDevice('a');
  const [s, t] = [newSensor('s', 0), newSensor('t', 0)];
  publisher.publishChanges(device, [s], []);
  await nextTurn();
  for (let value = 1; value <= 100; value++) {
    s.value = value;
    publisher.publishChanges(device, value === 50 ? [s, t] : [s], []);
    await nextTurn();
  }
  await until(() => published.length >= 2);
  expect(published.length).toBeLessThan(100);
  await until(() => published.some(({ items }) => items.some(({ value }) => value === 100)));
  expect(published.flatMap(({ items }) => items).filter(({ sensor_id }) => sensor_id === 't')).toHaveLength(
    1,
  );
});

test('Live publisher: no reader follows the device: a change is dropped, and not published later', async () => {
  wanted = false;
  publisher.publishChanges(newDevice('a'), [newSensor('s', 1)], []);
  wanted = true;
  publisher.stop();
  expect(published).toEqual([]);
});

test('Live publisher: 250 sensors change, and the publisher stops: all values are published in messages of 100', () => {
  publisher.publishChanges(
    newDevice('a'),
    Array.from({ length: 250 }, (_, at) => newSensor(`s${at}`, at)),
    [],
  );
  publisher.stop();
  expect(published.map(({ items }) => items.length)).toEqual([100, 100, 50]);
});

test('Live publisher: a reader begins to follow a device: changes committed just before are published', async () => {
  const [a, b] = [newDevice('a'), newDevice('b')];
  const [s, empty] = [newSensor('s', 1), { ...newSensor('t', 0), ts: null, value: null }];
  a.sensors = new Map([
    ['s', s],
    ['t', empty],
  ]);
  b.sensors = new Map();
  wanted = false;
  publisher.publishChanges(a, [s], []);
  publisher.publishChanges(b, [], []);
  announceReader();
  await nextTurn();
  expect(published).toEqual([]);
  wanted = true;
  announceReader();
  announceReader();
  await nextTurn();
  expect(published.map(({ device }) => device)).toEqual(['a']);
  expect(items(0)).toEqual(['s 1']);
});
