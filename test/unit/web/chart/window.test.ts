import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { windowUnderPointers } from '../../../../web/chart/gestures.ts';
import {
  lengthOf,
  liveWindow,
  NARROWEST_MS,
  pan,
  parseSpan,
  readWindow,
  roundSpan,
  SPANS,
  settle,
  writeSpan,
  writeWindow,
  zoom,
} from '../../../../web/chart/window.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const YEAR = 365 * 86_400_000;
const bounds = { now: NOW, earliest: NOW - YEAR };
const anyTime = fc.integer({ min: NOW - 2 * YEAR, max: NOW + YEAR });

test('Time span: any length in ms is written as text and parsed: the length is equal', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: YEAR }), (ms) => expect(parseSpan(writeSpan(ms))).toBe(ms)),
  );
  expect(SPANS.map(({ ms }) => writeSpan(ms))).toEqual(SPANS.map(({ value }) => value));
});

test.each([null, '', '5', 'm', '0s', '-5m', '5 m', '7w', '1e3s'])(
  'Time span: invalid text %s is parsed: null',
  (text) => expect(parseSpan(text)).toBeNull(),
);

test.each([
  [268_901, '270s'],
  [61_234, '61s'],
  [4_321, '4320ms'],
  [3_598_211, '1h'],
  [90_061_003, '25h'],
  [200 * 86_400_000 + 3_723_004, '200d'],
])('Time span: %d ms is rounded: %s', (ms, text) => expect(writeSpan(roundSpan(ms))).toBe(text));

test('Time span: any span is rounded: the span changes by 1 % at most, and a second rounding changes nothing', () => {
  fc.assert(
    fc.property(fc.integer({ min: NARROWEST_MS, max: YEAR }), (ms) => {
      const round = roundSpan(ms);
      expect(Math.abs(round - ms)).toBeLessThanOrEqual(ms / 100);
      expect(roundSpan(round)).toBe(round);
    }),
  );
  expect(SPANS.map(({ ms }) => roundSpan(ms))).toEqual(SPANS.map(({ ms }) => ms));
});

const read = (query: string) => readWindow(new URLSearchParams(query), NOW);

test('Chart range from the address: live range, ISO 8601 times or epoch milliseconds: that range is read', () => {
  expect(read('range=6h')).toEqual(liveWindow(6 * 3_600_000, NOW));
  const fixed = { live: false, from: NOW - 5000, to: NOW - 1000 };
  expect(read(`from=${fixed.from}&to=${fixed.to}`)).toEqual(fixed);
  expect(read(`from=${new Date(fixed.from).toISOString()}&to=${new Date(fixed.to).toISOString()}`)).toEqual(
    fixed,
  );
  expect(read(`range=1m&to=${NOW - 1000}`)).toEqual({ live: false, from: NOW - 61_000, to: NOW - 1000 });
});

test('Chart range from the address: from=-1h: live; from=-2h and to=-30m: fixed, relative to the opening of the page', () => {
  const openedAt = NOW - 10_000;
  const readAt = (query: string) => readWindow(new URLSearchParams(query), NOW, openedAt);
  for (const query of ['from=-1h', 'from=-1h&to=now', 'range=1m&from=-1h'])
    expect(readAt(query)).toEqual(liveWindow(3_600_000, NOW));
  expect(readAt('from=-2h&to=-30m')).toEqual({
    live: false,
    from: openedAt - 7_200_000,
    to: openedAt - 1_800_000,
  });
  expect(readAt(`from=${NOW - 60_000}&to=now`)).toEqual({ live: false, from: NOW - 60_000, to: openedAt });
  for (const query of [
    'to=now',
    'from=now',
    'from=-1w',
    'from=-1h30m',
    `from=${NOW}&to=now`,
    'range=999999999999y',
    'to=-8640000000000000',
    'to=8640000000000000',
  ])
    expect(readAt(query)).toEqual(liveWindow(300_000, NOW));
});

test('Chart range: any range is written to the address and read from it: the range is equal', () => {
  fc.assert(
    fc.property(anyTime, fc.integer({ min: 50, max: YEAR }), fc.boolean(), (from, length, live) => {
      const window = live ? liveWindow(length, NOW) : { live, from, to: from + length };
      const said = Object.entries(writeWindow(window)).filter(([, value]) => value !== null);
      expect(read(String(new URLSearchParams(said as string[][])))).toEqual(window);
    }),
  );
});

test('Chart range: zoomed or panned by any amount: the range stays between the oldest sample and now', () => {
  fc.assert(
    fc.property(
      anyTime,
      fc.integer({ min: 1, max: 2 * YEAR }),
      fc.double({ min: 0.001, max: 1000, noNaN: true }),
      fc.integer({ min: -YEAR, max: YEAR }),
      (from, length, factor, by) => {
        const window = settle({ from, to: from + length }, bounds);
        for (const next of [
          window,
          zoom(window, factor, window.from + by, bounds),
          pan(window, by, bounds),
        ]) {
          expect(next.from).toBeGreaterThanOrEqual(bounds.earliest);
          expect(next.to).toBeLessThanOrEqual(NOW);
          expect(lengthOf(next)).toBeGreaterThanOrEqual(NARROWEST_MS);
          expect(next.live).toBe(next.to === NOW);
          expect(Number.isInteger(next.from) && Number.isInteger(next.to)).toBe(true);
        }
      },
    ),
  );
});

test('Chart range: zoom to half the length: the time at the pointer keeps its place in the chart', () => {
  const window = { live: false, from: NOW - 200_000, to: NOW - 100_000 };
  expect(zoom(window, 0.5, NOW - 175_000, bounds)).toEqual({
    live: false,
    from: NOW - 187_500,
    to: NOW - 137_500,
  });
});

test('Chart range: panned to an earlier time: no longer live; panned back to now: live again', () => {
  const before = pan(liveWindow(60_000, NOW), -30_000, bounds);
  expect(before).toEqual({ live: false, from: NOW - 90_000, to: NOW - 30_000 });
  expect(pan(before, 40_000, bounds)).toEqual(liveWindow(60_000, NOW));
});

test('Chart on a touch screen: fingers move: one pans, two zoom, and crossed ones do not reverse the time axis', () => {
  expect(windowUnderPointers([{ x: 50, ts: 1000 }], 100, 400)).toEqual({ from: 800, to: 1200 });
  expect(
    windowUnderPointers(
      [
        { x: 0, ts: 1000 },
        { x: 100, ts: 1200 },
      ],
      100,
      400,
    ),
  ).toEqual({ from: 1000, to: 1200 });
  expect(
    windowUnderPointers(
      [
        { x: 100, ts: 1000 },
        { x: 0, ts: 1200 },
      ],
      100,
      400,
    ),
  ).toEqual({ from: 600, to: 1000 });
});
