import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { binsOf, createBins, widthFor } from '../../../api/history/reading/bins.js';
import { difference, seriesOf, widthOf } from '../../support/brute-force.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const FROM = Date.UTC(2026, 10, 1);

const range = fc
  .tuple(
    fc.integer({ min: 0, max: 400 * DAY }),
    fc.oneof(fc.integer({ min: 1, max: 400 * DAY }), fc.integer({ min: 1, max: HOUR })),
  )
  .map(([start, length]) => ({ from: FROM + start, to: FROM + start + length }));

describe('Bins: width', () => {
  test('the smallest that gives few enough bins', () => {
    fc.assert(
      fc.property(range, fc.integer({ min: 2, max: 2000 }), (given, points) => {
        const width = widthFor(given, points);
        expect(width).toBe(widthOf(given, points));
        expect(binsOf(given, width)).toBeLessThanOrEqual(points);
      }),
    );
  });

  test('with one point only: one bin, however many months it takes', () => {
    for (const [from, to] of [
      [0, 1],
      [FROM, FROM + DAY],
      [-1, 1].map((sign) => 60 * 30 * DAY + sign),
      [Date.UTC(2006, 0), Date.UTC(2026, 0)],
    ]) {
      const given = { from: Number(from), to: Number(to) };
      const width = widthFor(given, 1);
      expect(binsOf(given, width)).toBe(1);
      if (width > 30 * DAY) expect(width % (30 * DAY)).toBe(0);
    }
  });
});

const value = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(Number.MAX_VALUE, -Number.MAX_VALUE, Number.MIN_VALUE, 0, -0, 2 ** 960, -(2 ** 960)),
  fc.double({ min: -100, max: 100, noNaN: true }),
);

test('Bins: any samples in any pieces: the same as brute force', () => {
  const samples = fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 3 * HOUR - 1 }), value), {
    selector: ([ts]) => ts,
    maxLength: 60,
  });
  const widths = fc.constantFrom(1000, 60_000, 30 * 60_000, HOUR, 2 * HOUR, DAY);
  fc.assert(
    fc.property(samples, widths, fc.integer({ min: 1, max: 60 }), range, (made, width, piece, { from }) => {
      const begin = FROM + (from % HOUR);
      const given = { from: begin + 1234, to: begin + 2 * HOUR + 56_789 };
      const all = made
        .map(([ts, one]) => /** @type {[number, number]} */ ([begin + ts, one]))
        .sort(([a], [b]) => a - b);
      const bins = createBins(given, width);
      for (let at = 0; at < all.length; at += piece) {
        const some = all.slice(at, at + piece);
        bins.addSamples({ times: some.map(([ts]) => ts), values: some.map(([, one]) => one) });
      }
      expect(difference(bins.points(), seriesOf(all, given, width))).toBeNull();
    }),
    { numRuns: 300 },
  );
});

test('a million values of one size: the average has lost nothing on the way', () => {
  const times = Float64Array.from({ length: 1_000_000 }, (_, at) => FROM + at);
  const bins = createBins({ from: FROM, to: FROM + HOUR }, HOUR);
  bins.addSamples({ times, values: new Float64Array(times.length).fill(0.1) });
  bins.addHour(FROM, { count: 1_000_000, min: 0.1, max: 0.1, sum: 1e5, first: 0.1, last: 0.1 });
  expect(bins.points()).toEqual([{ ts: FROM, min: 0.1, max: 0.1, avg: 0.1, count: 2_000_000 }]);
});
