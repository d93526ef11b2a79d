import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Band, paintBand } from '../../../../../web/features/events/band.ts';
import { recordOf } from '../../../../../web/features/events/history.ts';
import { pictureOf, wordsAt } from '../../../../../web/features/events/strip.tsx';

const globals = globalThis as Record<string, unknown>;
const before = { ...globals };

beforeAll(() => {
  globals.devicePixelRatio = 1;
  globals.getComputedStyle = () => ({ getPropertyValue: (name: string) => name });
});
afterAll(() => {
  for (const name of ['devicePixelRatio', 'getComputedStyle']) globals[name] = before[name];
});

const EMPTY: Band = {
  events: [],
  spans: [],
  births: [],
  unwatched: [],
  knownFrom: null,
  read: { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY },
  now: 100,
  staleSince: null,
};

/**
 * Paints an availability band of 100 ms on 100 pixels.
 * @returns the painted parts in order, as action and pixels: `fill 10-50`, `clear …`, `hatch …`
 */
function paint(band: Partial<Band>): string[] {
  const painted: string[] = [];
  let path: [number, number][] = [];
  const range = (left: number, width: number) => `${left}-${left + width}`;
  const ctx = {
    save() {},
    restore() {},
    setLineDash() {},
    lineTo() {},
    moveTo() {},
    stroke() {},
    beginPath() {
      path = [];
    },
    rect(left: number, _top: number, width: number) {
      path.push([left, width]);
    },
    clip() {
      for (const [left, width] of path) if (width < 100) painted.push(`hatch ${range(left, width)}`);
    },
    clearRect: (left: number, _top: number, width: number) =>
      void painted.push(`clear ${range(left, width)}`),
    fillRect: (left: number, _top: number, width: number) => void painted.push(`fill ${range(left, width)}`),
  };
  const chart = {
    ctx,
    root: {},
    bbox: { left: 0, top: 0, width: 100, height: 20 },
    valToPos: (ts: number) => ts,
  } as never;
  paintBand(chart, { ...EMPTY, ...band });
  return painted;
}

test('Availability band of a device: no ingest process was running for a time: that part is hatched', () => {
  expect(paint({ spans: [{ from: 10, to: null }], unwatched: [{ from: 30, to: 60 }] })).toEqual([
    'fill 10-100',
    'clear 30-60',
    'hatch 30-60',
  ]);
});

test('Availability band of a device: overlapping times without ingest process or new values: each part is hatched once', () => {
  const unwatched = [
    { from: 30, to: 31 },
    { from: 60, to: 100 },
    { from: 85, to: 95 },
  ];
  expect(paint({ staleSince: 80, unwatched })).toEqual([
    // At least two pixels, so that it is visible.
    'clear 30-32',
    'hatch 30-32',
    'clear 60-80',
    'hatch 60-80',
    'hatch 80-100',
  ]);
});

test('Device state at the chart cursor: events of that time are not loaded yet: shown as unknown, not as offline', () => {
  const band = { ...EMPTY, spans: [{ from: 20, to: 30 }], read: { from: 10, to: 60 } };
  expect([5, 15, 25, 45, 65].map((ts) => wordsAt(band, ts))).toEqual([
    'State unknown: events not read',
    'Offline',
    'Online for 5 ms',
    'Offline',
    'State unknown: events not read',
  ]);
});

test('Device state at the chart cursor: run times of ingest processes not loaded for that time: shown as unknown', () => {
  const known = { events: [], onlineSince: 0, knownFrom: null, read: { from: 0, to: 100 } };
  const time = (ms: number) => new Date(ms).toISOString();
  const record = recordOf({ items: [{ from: time(50), to: time(60) }] }, { from: 40, to: 100 });
  const words = (...read: Parameters<typeof pictureOf>) =>
    [20, 45, 55, 80].map((ts) => wordsAt(pictureOf(...read).band, ts));
  expect(words(known, record)).toEqual([
    'State unknown: events not read',
    'Online for 45 ms',
    'No process watched: state unknown',
    'Online for 80 ms',
  ]);
  const unread = Array.from({ length: 4 }, () => 'State unknown: events not read');
  expect(words(known, null)).toEqual(unread);
  expect(words(null, record)).toEqual(unread);
});
