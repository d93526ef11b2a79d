import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { costOf, leastSquares, messageCost, missesOf } from '../../../tools/sizing/costs.js';

describe('Least squares without negative coefficients', () => {
  test('exact data: the exact coefficients', () => {
    const found = leastSquares(
      [
        [1, 0],
        [0, 1],
        [1, 1],
      ],
      [1, 2, 3],
    );
    expect(found[0]).toBeCloseTo(1);
    expect(found[1]).toBeCloseTo(2);
  });

  test('a negative coefficient: 0, and the others are fitted again', () => {
    // Freely they were 2 and -1; without the second, the mean of 2 and 1 is the nearest.
    expect(
      leastSquares(
        [
          [1, 0],
          [1, 1],
        ],
        [2, 1],
      ),
    ).toEqual([1.5, 0]);
  });

  test('no solution or no data: zeros', () => {
    expect(leastSquares([[1]], [-1])).toEqual([0]);
    expect(leastSquares([], [])).toEqual([]);
  });
});

/** @param {{ message: number, series: number, sample: number }} cost @returns {any} what a bench would have measured */
const measuredOf = (cost) =>
  Object.fromEntries(
    ['1x60', '1x10', '4x10', '50x1', '1x1'].map((name) => {
      const [sensors = 1, samples = 1] = name.split('x').map(Number);
      const each = messageCost(cost, { sensors, samples }) / (sensors * samples);
      return [name, { packed: { ingest: each }, rows: { ingest: each } }];
    }),
  );

describe('Cost of a message', () => {
  test('value: the sum over message, sensors and samples', () => {
    expect(messageCost({ message: 30, series: 10, sample: 2 }, { sensors: 4, samples: 10 })).toBe(150);
  });

  test('five loads calculated from any costs: the same costs', () => {
    const number = fc.double({ min: 0.01, max: 100, noNaN: true });
    fc.assert(
      fc.property(number, number, number, (message, series, sample) => {
        const found = costOf(measuredOf({ message, series, sample }), 'packed', 'ingest');
        expect(found.message).toBeCloseTo(message, 4);
        expect(found.series).toBeCloseTo(series, 4);
        expect(found.sample).toBeCloseTo(sample, 4);
      }),
    );
  });

  test('error of a measurement: relative, so a tenth too much is 0.1', () => {
    const measured = measuredOf({ message: 10, series: 10, sample: 10 });
    for (const miss of Object.values(missesOf(measured, 'rows', 'ingest'))) expect(miss).toBeCloseTo(0);
    // The loads with one sensor of one sample are half of the cost of the others.
    measured['1x1'].rows.ingest /= 2;
    expect(missesOf(measured, 'rows', 'ingest')['1x1']).toBeGreaterThan(0.1);
  });
});
