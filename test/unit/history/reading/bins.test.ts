import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Bins, widthFor } from '../../../../api/history/reading/bins.ts';
import { binsOf, uniformGrid } from '../../../../api/history/reading/grid.ts';
import { difference, seriesOf, widthOf } from '../../../support/history/brute-force.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const FROM = Date.UTC(2026, 10, 1);

const range = fc
  .tuple(
    fc.integer({ min: 0, max: 400 * DAY }),
    fc.oneof(fc.integer({ min: 1, max: 400 * DAY }), fc.integer({ min: 1, max: HOUR })),
  )
  .map(([start, length]) => ({ from: FROM + start, to: FROM + start + length }));

test('Bin width: a maximum number of bins is given: the smallest width that stays within the maximum is used', () => {
  fc.assert(
    fc.property(range, fc.integer({ min: 2, max: 2000 }), (given, points) => {
      const width = widthFor(given, points);
      expect(width).toBe(widthOf(given, points));
      expect(binsOf(given, width)).toBeLessThanOrEqual(points);
    }),
  );
});

test('Bin width: only one bin is wanted: one bin covers the range, however long', () => {
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

const value = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(Number.MAX_VALUE, -Number.MAX_VALUE, Number.MIN_VALUE, 0, -0, 2 ** 960, -(2 ** 960)),
  fc.double({ min: -100, max: 100, noNaN: true }),
);

test('Bins of a series: any samples, added in pieces of any size: the points equal those of a simple calculation', () => {
  const samples = fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 3 * HOUR - 1 }), value), {
    selector: ([ts]) => ts,
    maxLength: 60,
  });
  const widths = fc.constantFrom(1000, 60_000, 30 * 60_000, HOUR, 2 * HOUR, DAY);
  fc.assert(
    fc.property(samples, widths, fc.integer({ min: 1, max: 60 }), range, (made, width, piece, { from }) => {
      const begin = FROM + (from % HOUR);
      const given = { from: begin + 1234, to: begin + 2 * HOUR + 56_789 };
      const all = made.map(([ts, one]) => [begin + ts, one] as [number, number]).sort(([a], [b]) => a - b);
      const bins = new Bins(given, uniformGrid(given, width));
      for (let at = 0; at < all.length; at += piece) {
        const some = all.slice(at, at + piece);
        bins.addSamples({ times: some.map(([ts]) => ts), values: some.map(([, one]) => one) });
      }
      expect(difference(bins.points(), seriesOf(all, given, width))).toBeNull();
    }),
    { numRuns: 300 },
  );
});

test('Bins of a series: a time zone 5.5 hours ahead of UTC: daily bins begin at local midnight', () => {
  const shift = 5.5 * HOUR;
  const given = { from: FROM, to: FROM + 2 * DAY };
  expect(binsOf(given, DAY)).toBe(2);
  expect(binsOf(given, DAY, shift)).toBe(3);
  expect(widthFor(given, 3, shift)).toBe(DAY);
  const bins = new Bins(given, uniformGrid(given, DAY, shift));
  const midnight = FROM + DAY - shift;
  bins.addSamples({ times: [FROM, midnight - 1, midnight, midnight + DAY], values: [1, 2, 3, 4] });
  bins.addHour(midnight + DAY + HOUR / 2, { count: 2, min: 5, max: 6, sum: 11, first: 5, last: 6 });
  expect(bins.points()).toEqual([
    { ts: midnight - DAY, min: 1, max: 2, avg: 1.5, count: 2 },
    { ts: midnight, min: 3, max: 3, avg: 3, count: 1 },
    { ts: midnight + DAY, min: 4, max: 6, avg: 5, count: 3 },
  ]);
});

test('Bins of a series: statistics of an hour that spans two bins: refused; of an hour within one bin: added', () => {
  const given = { from: FROM, to: FROM + 4 * HOUR };
  const statistics = { count: 1, min: 1, max: 1, sum: 1, first: 1, last: 1 };
  const bins = new Bins(given, uniformGrid(given, 2 * HOUR));
  expect([0, 1, 1.5, 2].map((hour) => bins.addHour(FROM + hour * HOUR, statistics))).toEqual([
    true,
    true,
    false,
    true,
  ]);
  expect(bins.column('count')).toEqual([2, 1]);
});

test('Bins of two sensors: sums with lost small values, or of huge values, are added: the sum is exact', () => {
  const hour = { from: FROM, to: FROM + HOUR };
  const binsOfValues = (values: number[]) => {
    const bins = new Bins(hour, uniformGrid(hour, HOUR));
    bins.addSamples({ times: values.map((_, at) => FROM + at), values });
    return bins;
  };
  const bins = binsOfValues([1e100, 1]);
  bins.addBins(binsOfValues([-1e100, 2]));
  expect(bins.column('sum')).toEqual([3]);
  const large = binsOfValues([Number.MAX_VALUE]);
  large.addBins(binsOfValues([Number.MAX_VALUE, -Number.MAX_VALUE]));
  large.addBins(binsOfValues([-Number.MAX_VALUE / 2]));
  expect(large.column('sum')).toEqual([Number.MAX_VALUE / 2]);
});
