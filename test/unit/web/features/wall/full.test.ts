import { describe, expect, test } from '@jest/globals';
import { wallSize } from '../../../../../web/features/wall/fleet-wall.tsx';
import { type Layout, layOut } from '../../../../../web/features/wall/layout.ts';

const AREAS = [
  [390, 700],
  [844, 390],
  [1024, 768],
  [1440, 900],
  [1920, 1080],
  [3840, 2160],
];
const COUNTS = [1, 2, 7, 25, 61, 100, 333, 1000, 4000, 20_000];

function fleetOf(sensors: number, each: number, sites: number) {
  const devices = Array.from({ length: Math.ceil(sensors / each) }, (_, at) =>
    Math.min(each, sensors - at * each),
  );
  const size = Math.ceil(devices.length / sites);
  return Array.from({ length: Math.ceil(devices.length / size) }, (_, at) =>
    devices.slice(at * size, (at + 1) * size),
  );
}

/** @returns the first error; empty: each cell has its own place within the wall */
function wrongCell({ x, y, format, width, height }: Layout): string {
  const places = new Set();
  for (let cell = 0; cell < x.length; cell += 1) {
    const [left, top] = [Number(x[cell]), Number(y[cell])];
    const isWithin = left >= 0 && top >= 0 && left + format.width <= width && top + format.height <= height;
    if (!isWithin) return `cell ${cell} at ${left} ${top} of ${width} ${height}`;
    places.add(top * 100_000 + left);
  }
  return places.size === x.length ? '' : 'two cells in one place';
}

describe.each(AREAS)('Window of %d x %d pixels', (width, height) => {
  test.each(COUNTS)('Full-window wall: %d sensors: each has a visible cell without scrolling', (sensors) => {
    for (const [each, sites] of [
      [1, 1],
      [4, 5],
      [50, 3],
      [2, 300],
    ] as [number, number][]) {
      const layout = layOut(fleetOf(sensors, each, sites), { width, height, isAll: true });
      expect([layout.fits, layout.height <= height, wrongCell(layout)]).toEqual([true, true, '']);
      expect(layout.x).toHaveLength(sensors);
    }
  });
});

test.each([
  ['61 sensors at 1440 x 900', 973, 450, fleetOf(61, 3, 5)],
  ['25 devices with four sensors each', 973, 450, fleetOf(100, 4, 5)],
  ['25 sensors on a phone', 326, 420, fleetOf(25, 1, 2)],
])('Wall on the fleet page: %s: sensors are drawn as cards', (_, width, height, sites) => {
  const layout = layOut(sites, { width, height });
  expect(layout.format.isCard).toBe(true);
  expect(wrongCell(layout)).toBe('');
});

test.each([326, 640, 973, 1040, 1920])(
  'Wall on the fleet page: %d pixels: cards of all sites stand in the same columns, up to both edges',
  (width) => {
    for (const counts of [[61], [20, 20, 19], [3, 40, 1, 16], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]]) {
      const sites = counts.map((count) => Array.from({ length: count }, () => 1));
      const { format, x, blocks } = layOut(sites, { width, height: 450 });
      if (!format.isCard) continue;
      const step = format.width + format.gap;
      const columns = Math.floor((width + format.gap) / step);
      expect([...x].filter((left) => left % step !== 0)).toEqual([]);
      expect(width - (columns * step - format.gap)).toBeLessThan(columns);
      const ends = blocks.filter((block, index) => block.y !== blocks[index + 1]?.y);
      expect(new Set(ends.map((block) => block.x + block.width))).toEqual(
        new Set([columns * step - format.gap]),
      );
    }
  },
);

test('Wall on the fleet page: 20,000 sensors on a phone: the layout reports that the cells do not fit', () => {
  const layout = layOut(fleetOf(20_000, 4, 10), { width: 326, height: 420 });
  expect([layout.fits, wrongCell(layout)]).toEqual([false, '']);
});

test('Wall address: ?full: the wall fills the window; ?kiosk: the wall fills the window, without buttons', () => {
  const sizeOf = (query: string) => wallSize(new URLSearchParams(query));
  expect(sizeOf('name=x')).toEqual({ isFull: false, isKiosk: false });
  expect(sizeOf('full')).toEqual({ isFull: true, isKiosk: false });
  expect(sizeOf('full=1')).toEqual({ isFull: true, isKiosk: false });
  expect(sizeOf('kiosk')).toEqual({ isFull: true, isKiosk: true });
});
