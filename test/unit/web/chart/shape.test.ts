import { expect, test } from '@jest/globals';
import { areFew } from '../../../../web/chart/reader.ts';
import { drawn, join, type Shape, shapeOfBins, shapeOfSamples } from '../../../../web/chart/shape.ts';

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

test('Chart data: parts with overlapping ranges are joined: samples of the newer part replace those of the older part', () => {
  const joined = join(samples([10, 20, 30]), { ...samples([20, 25, 40], () => 7), from: 20 });
  expect(joined.ts).toEqual([10, 20, 25, 40]);
  expect(joined.avg).toEqual([10, 7, 7, 7]);
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
