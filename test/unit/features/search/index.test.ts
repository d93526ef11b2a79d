import { expect, test } from '@jest/globals';
import { createSearchIndex } from '../../../../api/features/search/routes.ts';

const SECOND_MS = 1000;

const item = (device: string, name: string, site: string | null = 'North') => ({
  device_id: `id-${device}`,
  sensor_id: `id-${name}`,
  device,
  name,
  type: 'pulse',
  unit: null,
  site,
  ts: null,
  value: null,
});

function indexOf(items: ReturnType<typeof item>[]) {
  let [now, reads] = [0, 0];
  const index = createSearchIndex({
    clock: () => now,
    read: async () => {
      reads++;
      return items;
    },
  });
  return {
    find: async (text: string, limit: number = 20) =>
      (await index.find(text, limit)).map(({ kind, name }) => `${kind} ${name}`),
    wait: (ms: number) => {
      now += ms;
    },
    reads: () => reads,
  };
}

test('Search index: part of a name: finds sites, devices and sensors, the best match first', async () => {
  const { find } = indexOf([item('collar-10', 'ear'), item('collar-9', 'ear'), item('gate', 'collar')]);
  expect(await find('COLLAR')).toEqual([
    'sensor collar',
    'device collar-9',
    'device collar-10',
    'sensor ear',
    'sensor ear',
  ]);
  expect(await find('ort')).toContain('site North');
  expect(await find('ear r-9')).toEqual(['sensor ear']);
  expect(await find('nobody')).toEqual([]);
  expect(await find(' ')).toEqual([]);
});

test('Search index: searches within ten seconds: share one database read; a later search reads again', async () => {
  const { find, wait, reads } = indexOf([item('a', 's', null)]);
  await Promise.all([find('a'), find('s')]);
  wait(9 * SECOND_MS);
  await find('a');
  expect(reads()).toBe(1);
  wait(2 * SECOND_MS);
  await find('a');
  expect(reads()).toBe(2);
});

test('Search index: a database read fails: the search fails, and the next search reads again', async () => {
  let isAway = true;
  const index = createSearchIndex({
    clock: () => 0,
    read: async () => {
      if (isAway) throw new Error('away');
      return [item('a', 's')];
    },
  });
  await expect(index.find('a', 5)).rejects.toThrow('away');
  isAway = false;
  expect(await index.find('id-a', 5)).toEqual([]);
  expect(await index.find('a', 5)).not.toEqual([]);
});
