import { expect, test } from '@jest/globals';
import { LatestCache } from '../../../api/http/stream/latest-cache.ts';

const at = (second: number) => `2026-05-05T12:00:0${second}.000Z`;

const item = (second: number, value: number, until?: number) => ({
  device_id: 'd',
  sensor_id: 's',
  device: null,
  name: null,
  type: null,
  unit: null,
  site: null,
  ts: at(second),
  value,
  ...(until === undefined ? {} : { corrected_until: at(until) }),
});

const shown = (cache: LatestCache) => cache.all().map((entry) => [entry.item.ts, entry.item.value]);

test('Live cache: a correction of the shown instant, or an older sample after a removal: shown', () => {
  const cache = new LatestCache();
  cache.update(item(5, 100), 0);
  expect(cache.update(item(5, 21, 5), 0)).toBe(true);
  expect(shown(cache)).toEqual([[at(5), 21]]);
  expect(cache.update(item(3, 7, 6), 0)).toBe(true);
  expect(shown(cache)).toEqual([[at(3), 7]]);
});

test('Live cache: a correction of instants before the shown one, or the same correction again: nothing changes', () => {
  const cache = new LatestCache();
  cache.update(item(5, 100), 0);
  expect(cache.update(item(3, 7, 4), 0)).toBe(false);
  cache.update(item(5, 21, 5), 0);
  expect(cache.update(item(5, 21, 5), 0)).toBe(false);
  expect(shown(cache)).toEqual([[at(5), 21]]);
});

test('Live cache: the first item of a sensor is a correction: its snapshot has no mark of it', () => {
  const cache = new LatestCache();
  cache.update(item(5, 21, 5), 0);
  expect(cache.all().map((entry) => Object.keys(entry.item))).toEqual([
    expect.not.arrayContaining(['corrected_until']),
  ]);
});
