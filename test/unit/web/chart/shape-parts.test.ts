import { expect, test } from '@jest/globals';
import { emptyShape, join, type Shape, within } from '../../../../web/chart/shape.ts';

const RANGE = { from: 0, to: 1000 };

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
