import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { coarsen, shapeOfBins, shapeOfSamples } from '../../../../../web/chart/shape.ts';
import { changesOf, sharesOf, statisticsOf } from '../../../../../web/features/shared/statistics.ts';

const RANGE = { from: 0, to: 100_000 };

const samples = (values: number[]) =>
  shapeOfSamples({ ts: values.map((_, at) => at * 10), value: values }, RANGE);

const bins = (points: [min: number, avg: number, max: number][]) =>
  shapeOfBins(
    {
      points: points.map(([min, avg, max], at) => ({
        ts: new Date(at * 1000).toISOString(),
        min,
        avg,
        max,
        count: 4,
      })),
      step_ms: 1000,
      source: 'samples',
    },
    RANGE,
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

test('Chart statistics: bins: the mean is weighted by count, and lowest and highest value have their times', () => {
  const shape = bins([
    [-1, 0, 1],
    [99, 100, 101],
    [199, 200, 201],
  ]);
  shape.count = [1, 1, 98];
  expect(statisticsOf(shape)).toEqual({ count: 100, min: -1, max: 201, avg: 197, minAt: 0, maxAt: 2000 });
});

test('State statistics: samples or bins of a range: share of each state, and number of changes', () => {
  expect(sharesOf(samples([0, 1, 1, 1]))).toEqual([
    { value: 0, share: 0.25 },
    { value: 1, share: 0.75 },
  ]);
  expect(
    sharesOf(
      bins([
        [0, 0.5, 1],
        [1, 1, 1],
      ]),
    ),
  ).toEqual([
    { value: 0, share: 0.25 },
    { value: 1, share: 0.75 },
  ]);
  expect(sharesOf(bins([[0, 1.5, 3]]))).toEqual([]);
  expect(changesOf([0, 0, 1, 0])).toBe(2);
  expect(changesOf([])).toBe(0);
});
