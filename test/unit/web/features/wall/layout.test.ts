import { describe, expect, test } from '@jest/globals';
import { sortGroups } from '../../../../../web/features/wall/groups.ts';
import { layOut } from '../../../../../web/features/wall/layout.ts';
import { createHits } from '../../../../../web/features/wall/painter.ts';
import type { FleetDevice } from '../../../../../web/state/fleet.ts';

/** @param sensors of each */
const devices = (count: number, sensors: number) => Array.from({ length: count }, () => sensors);

const FLEETS: Array<[name: string, sites: number[][]]> = [
  ['one sensor', [[1]]],
  ['25 sensors', [devices(5, 5)]],
  ['10,000 collars', [devices(1000, 4), devices(500, 4), devices(1000, 4)]],
  ['200 machines', [devices(120, 50), devices(80, 50)]],
  ['300 small sites', Array.from({ length: 300 }, () => devices(2, 3))],
  ['a device of 5000 sensors among small ones', [[1], [5000], [1, 2, 3], devices(300, 1)]],
  ['8,000 single sensors', [devices(8000, 1)]],
];
const ROOMS: Array<[name: string, room: { width: number; height: number }]> = [
  ['a desktop screen', { width: 940, height: 450 }],
  ['a phone', { width: 326, height: 420 }],
  ['a wall screen', { width: 3800, height: 1900 }],
];

describe.each(FLEETS)('Wall layout of %s', (_fleet, sites) => {
  describe.each(ROOMS)('on %s', (_room, room) => {
    const layout = layOut(sites, room);
    const { x, y, format } = layout;
    const total = sites.flat().reduce((sum, count) => sum + count, 0);

    test('Wall layout: pointer over a cell: the sensor of that cell is found; pointer outside of all cells: no sensor', () => {
      const { at } = createHits(layout);
      for (let cell = 0; cell < total; cell += 1) {
        const middle = at(Number(x[cell]) + format.width / 2, Number(y[cell]) + format.height / 2);
        if (middle !== cell) throw new Error(`${middle} instead of ${cell}`);
      }
      expect(at(-5, -5)).toBe(-1);
    });
  });
});

test('Wall layout: sensors of a device: next to each other, with wider gaps between devices', () => {
  const { x, format } = layOut([devices(2500, 4)], { width: 940, height: 450 });
  expect(Number(x[2]) - Number(x[0])).toBe(format.width + format.gap);
  expect(Number(x[4]) - Number(x[2])).toBe(format.width + format.deviceGap);
});

test('Wall keys: arrow keys: the cursor moves to the neighbor cell, over gaps, up to the edge of the wall', () => {
  const layout = layOut([devices(50, 4), devices(50, 4)], { width: 940, height: 200 });
  const { neighbor } = createHits(layout);
  const { x, y } = layout;
  expect(neighbor(0, -1, 0)).toBe(0);
  expect(neighbor(0, 0, 1)).toBe(1);
  expect(neighbor(0, 1, 0)).toBe(2);
  // The third column belongs to the next device.
  expect(neighbor(2, 1, 0)).toBe(4);
  for (let cell = 0, steps = 0; steps < 400; steps += 1) {
    const next = neighbor(cell, 1, 0);
    if (next === cell) break;
    expect(Number(x[next])).toBeGreaterThan(Number(x[cell]));
    expect(Number(y[next])).toBe(Number(y[0]));
    cell = next;
  }
});

test('Wall order: sites, devices and sensors: sorted by name, numbers in names by value', () => {
  const device = (name: string, site: string | null, sensors: string[]) =>
    ({
      id: name,
      name,
      site,
      isInOrder: false,
      sensors: sensors.map((one) => ({ name: one })),
    }) as FleetDevice;
  const sites = sortGroups(
    [
      device('d-10', 'B', ['x']),
      device('d-2', 'B', ['t-10', 'T-9', 't-1']),
      device('none', null, ['x']),
      device('e', 'a', ['x']),
      device('empty', 'c', []),
    ],
    { matches: null, level: null },
  );
  expect(sites.map(({ name, devices: found }) => [name, found.flat().length])).toEqual([
    ['a', 1],
    ['B', 4],
    [null, 1],
  ]);
  expect(sites[1]?.devices.map((sensors) => sensors.map(({ name }) => name))).toEqual([
    ['t-1', 'T-9', 't-10'],
    ['x'],
  ]);
});
