import { describe, expect, test } from '@jest/globals';
import {
  coarsen,
  emptyShape,
  join,
  type Shape,
  shapeOfSamples,
  within,
} from '../../../../web/chart/shape.ts';

const RANGE = { from: 0, to: 1000 };

const samples = (ts: number[]) => shapeOfSamples({ ts, value: ts.map((at) => at / 10) }, RANGE);

const bins = (ts: number[], more?: Partial<Shape>) => ({
  ...emptyShape(RANGE),
  stepMs: 100,
  ts,
  min: ts.map((at) => at - 1),
  avg: ts.map((at) => at as number | null),
  max: ts.map((at) => at + 1),
  count: ts.map((_, index) => index + 1),
  ...more,
});

describe('Samples', () => {
  test('Chart data of samples: created from times and values: each sample has the count 1', () => {
    expect(samples([0, 10])).toMatchObject({ stepMs: null, ...RANGE, avg: [0, 1], count: [1, 1] });
  });

  test('Chart data of samples: only a time range is kept: includes the sample at its start, excludes the sample at its end', () => {
    const part = within(samples([0, 10, 20]), { from: 0, to: 20 });
    expect(part).toMatchObject({ stepMs: null, from: 0, to: 20, ts: [0, 10], avg: [0, 1], count: [1, 1] });
    expect([part.min, part.max]).toEqual([part.avg, part.avg]);
    expect(part.min).toBe(part.avg);
    expect(part.max).toBe(part.avg);
  });

  test('Chart data of samples: newer samples are appended: min, avg and max are the same array', () => {
    const joined = join(samples([0, 10, 20]), { ...samples([20, 30]), from: 20, to: 2000 });
    expect(joined).toMatchObject({
      stepMs: null,
      from: 0,
      to: 2000,
      ts: [0, 10, 20, 30],
      count: [1, 1, 1, 1],
    });
    expect(joined.min).toBe(joined.avg);
    expect(joined.max).toBe(joined.avg);
    expect(joined.avg).toEqual([0, 1, 2, 3]);
  });
});

describe('Bins', () => {
  test('Chart data of bins: only a time range is kept: every column is cut, the new range is the overlap', () => {
    const part = within(bins([0, 100, 200]), { from: 100, to: 2000 });
    expect(part).toEqual({
      stepMs: 100,
      from: 100,
      to: 1000,
      ts: [100, 200],
      min: [99, 199],
      avg: [100, 200],
      max: [101, 201],
      count: [2, 3],
    });
    expect(within(bins([0, 100, 200]), { from: -50, to: 150 })).toMatchObject({
      from: 0,
      to: 150,
      ts: [0, 100],
    });
  });

  test('Chart data of bins: range cut out: a bin cut by the start is included, a bin that ends at the start is not', () => {
    const range = { from: 150, to: 1000 };
    expect(within(bins([50, 150], { from: 150 }), range).ts).toEqual([150]);
    expect(within(bins([51, 151, 1000], { from: 150 }), range).ts).toEqual([51, 151]);
  });

  test('Chart data of bins: newer bins are appended: every column is joined, and the range ends at the later end', () => {
    const joined = join(bins([0, 100, 200]), bins([200, 300], { from: 200, to: 900 }));
    expect(joined).toEqual({
      stepMs: 100,
      from: 0,
      to: 1000,
      ts: [0, 100, 200, 300],
      min: [-1, 99, 199, 299],
      avg: [0, 100, 200, 300],
      max: [1, 101, 201, 301],
      count: [1, 2, 1, 2],
    });
  });
});

describe('Wider bins', () => {
  test('Chart data: samples are joined to bins: bins start at multiples of their width, with min, mean, max, count', () => {
    expect(coarsen(samples([100, 199, 200, 450]), 100)).toEqual({
      stepMs: 100,
      ...RANGE,
      ts: [100, 200, 400],
      min: [10, 20, 45],
      avg: [14.95, 20, 45],
      max: [19.9, 20, 45],
      count: [2, 1, 1],
    });
  });

  test('Chart data: bins are joined to a wider bin: the mean is weighted by the sample counts', () => {
    const wide = coarsen(bins([0, 100, 300], { count: [1, 3, 4] }), 500);
    expect(wide).toMatchObject({ ts: [0], min: [-1], max: [301], count: [8], avg: [187.5] });
  });

  test.each([[[null, 100]], [[0, null]], [[null, null]]])(
    'Chart data: bins with the means %j are joined to a wider bin: the mean of the wider bin is null',
    (avg) => {
      expect(coarsen(bins([0, 100], { avg }), 1000)).toMatchObject({ avg: [null], min: [-1], max: [101] });
    },
  );
});
