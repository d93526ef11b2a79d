import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { costOf, errorsOf, messageCost } from '../../../../tools/sizing/costs.js';

/** @param {{ message: number, series: number, sample: number }} cost @returns {any} what a bench would have measured */
const measuredOf = (cost) =>
  Object.fromEntries(
    ['1x60', '1x10', '4x10', '50x1', '1x1'].map((name) => {
      const [sensors = 1, samples = 1] = name.split('x').map(Number);
      const each = messageCost(cost, { sensors, samples }) / (sensors * samples);
      return [name, { packed: { ingest: each } }];
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
        const found = costOf(measuredOf({ message, series, sample }), 'ingest');
        expect(found.message).toBeCloseTo(message, 4);
        expect(found.series).toBeCloseTo(series, 4);
        expect(found.sample).toBeCloseTo(sample, 4);
      }),
    );
  });

  test('Sizing costs: a load that costs less than nothing more: the part is 0', () => {
    const measured = measuredOf({ message: 10, series: 0, sample: 0 });
    measured['1x60'].packed.ingest /= 2;
    expect(costOf(measured, 'ingest')).toMatchObject({ sample: 0 });
  });

  test('Sizing costs: error of a load: relative, so a tenth too much is 0.1', () => {
    const measured = measuredOf({ message: 10, series: 10, sample: 10 });
    for (const error of Object.values(errorsOf(measured, 'ingest'))) expect(error).toBeCloseTo(0);
    measured['4x10'].packed.ingest /= 1.1;
    expect(errorsOf(measured, 'ingest')['4x10']).toBeCloseTo(0.1);
  });
});
