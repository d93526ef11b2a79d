import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { areFew } from '../../../../web/chart/reader.ts';
import { statisticsOf } from '../../../../web/chart/readout.ts';
import {
  coarsen,
  drawn,
  join,
  type Shape,
  shapeOfBins,
  shapeOfSamples,
  within,
} from '../../../../web/chart/shape.ts';

const samples = (ts: number[], valueAt: (ts: number) => number = (at) => at) =>
  shapeOfSamples({ ts, value: ts.map(valueAt) }, { from: 0, to: 1_000_000 });

/** @param count samples of each */
const bins = (starts: number[], step_ms: number, count: number = 10) =>
  shapeOfBins(
    {
      points: starts.map((ts) => ({
        ts: new Date(ts).toISOString(),
        min: ts - 1,
        max: ts + 1,
        avg: ts,
        count,
      })),
      step_ms,
      source: 'samples',
    },
    { from: 0, to: 1_000_000 },
  );

const anySamples = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 0, max: 9999 }), fc.integer({ min: -100, max: 100 })), {
    selector: ([ts]) => ts,
    maxLength: 80,
  })
  .map((pairs) => pairs.sort(([a], [b]) => a - b))
  .map((pairs) =>
    shapeOfSamples(
      { ts: pairs.map(([ts]) => ts), value: pairs.map(([, value]) => value) },
      { from: 0, to: 10_000 },
    ),
  );

test('Chart data: samples are joined to bins, then to wider bins: count, min, max and mean equal those of the samples', () => {
  fc.assert(
    fc.property(anySamples, (shape) => {
      const wide = coarsen(coarsen(shape, 100), 1000);
      const [said, expected] = [statisticsOf(wide), statisticsOf(shape)];
      expect([said.count, said.min, said.max]).toEqual([expected.count, expected.min, expected.max]);
      expect(said.avg ?? 0).toBeCloseTo(expected.avg ?? 0, 9);
      expect(wide.ts.every((ts, at) => ts % 1000 === 0 && ts > (wide.ts[at - 1] ?? -1))).toBe(true);
    }),
  );
});

test('Chart data: only a time range is kept: a sample or bin at the end of the range is excluded', () => {
  expect(within(samples([10, 20, 30]), { from: 10, to: 30 }).ts).toEqual([10, 20]);
  expect(within(bins([0, 100, 200, 300], 100), { from: 100, to: 300 }).ts).toEqual([100, 200]);
});

test('Chart data: bin cut by the start of the range, then the start moves: the bin is removed', () => {
  const cut = { ...bins([100, 200, 300], 100), from: 150 };
  expect(within(cut, { from: 150, to: 300 }).ts).toEqual([100, 200]);
  // The window moved: the cut bin now holds samples from before the window.
  expect(within(cut, { from: 151, to: 301 }).ts).toEqual([200, 300]);
  expect(within(within(cut, { from: 151, to: 301 }), { from: 200, to: 350 }).ts).toEqual([200, 300]);
});

test('Chart data: parts with overlapping ranges are joined: samples of the newer part replace those of the older part', () => {
  const joined = join(samples([10, 20, 30]), { ...samples([20, 25, 40], () => 7), from: 20 });
  expect(joined.ts).toEqual([10, 20, 25, 40]);
  expect(joined.avg).toEqual([10, 7, 7, 7]);
});

test('Chart statistics: bins: the mean is weighted by count, and lowest and highest value have their times', () => {
  const shape = bins([0, 100, 200], 100, 1);
  shape.count = [1, 1, 98];
  expect(statisticsOf(shape)).toEqual({ count: 100, min: -1, max: 201, avg: 197, minAt: 0, maxAt: 200 });
});

const gapsOf = (shape: Shape, interval: number | null) =>
  drawn(shape, interval).places.filter((place) => place === -1).length;

test('Gaps in a chart: two samples are more than three intervals apart: the line has a gap', () => {
  const { columns, places } = drawn(samples([0, 10, 100, 110]), 10);
  expect(columns).toEqual([
    [0, 10, 55, 100, 110],
    [0, 10, null, 100, 110],
    [0, 10, null, 100, 110],
    [0, 10, null, 100, 110],
  ]);
  expect(places).toEqual([0, 1, -1, 2, 3]);
  expect(gapsOf(samples([0, 10, 38, 48]), 10)).toBe(0);
});

test('Gaps in a chart: sensor slower than its announced interval, or uneven without interval: the line has no gap', () => {
  expect(gapsOf(samples([0, 60, 120, 180]), 1)).toBe(0);
  expect(gapsOf(samples([0, 10, 70, 80, 140, 150]), null)).toBe(0);
  expect(gapsOf(samples([0, 10, 20, 30, 1000, 1010]), null)).toBe(1);
});

test('Gaps in a chart: bins without samples: the line has gaps, unless the sensor is slower than the bins', () => {
  expect(gapsOf(bins([0, 100, 200, 400], 100), 10)).toBe(1);
  expect(gapsOf(bins([0, 300, 600, 900, 5000], 100, 1), 300)).toBe(1);
});

test('Chart of bins: the edge of the chart cuts a bin: its point is drawn in the middle of the visible part', () => {
  const shape = { ...bins([0, 100, 200], 100), from: 50, to: 220 };
  expect(drawn(shape, 10).columns[0]).toEqual([75, 150, 210]);
});

test('Chart request: few samples, or bins of one second: the chart requests single samples instead of bins', () => {
  expect(areFew(bins([0, 1000], 1000, 1000))).toBe(true);
  expect(areFew(bins([0, 1000], 1000, 1001))).toBe(true);
  expect(areFew(bins([0, 2000], 2000, 1001))).toBe(false);
  expect(areFew(bins([0, 1000], 1000, 30_000))).toBe(false);
});
