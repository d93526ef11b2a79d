import { describe, expect, test } from '@jest/globals';
import { entryUnder } from '../../../../web/chart/plot.ts';
import {
  inScale,
  isCounter,
  noSampleWords,
  pointWords,
  present,
  rateOf,
} from '../../../../web/chart/readout.ts';
import { drawn, emptyShape, shapeOfSamples } from '../../../../web/chart/shape.ts';
import { UTC } from '../../../../web/format.ts';
import { plainScale, scaleFor } from '../../../../web/units.ts';

const SECOND = 1000;
const RANGE = { from: 0, to: 1_000_000 };

/** @param step ms */
const samples = (values: number[], step: number = SECOND) =>
  shapeOfSamples({ ts: values.map((_, at) => at * step), value: values }, RANGE);
const rising = (count: number, by: number, start: number = 0) =>
  Array.from({ length: count }, (_, at) => start + at * by);
const labels = { name: 'x', type: null, unit: 'J' };

describe('Counters', () => {
  test.each([
    ['rising values: a counter', rising(10, 3), 'beats', true],
    ['rising values with pauses: a counter', [0, 1, 1, 1, 2, 2, 3, 3, 4, 5], null, true],
    ['rising values with one restart: a counter', [...rising(30, 5, 100), ...rising(30, 5)], 'kWh', true],
    ['only seven values: no counter', rising(7, 1), null, false],
    ['values that once fall by a little: no counter', [...rising(10, 5), 40, 45], null, false],
    ['constant values: no counter', rising(10, 0), null, false],
    ['negative values: no counter', rising(10, 1, -5), null, false],
    ['rising temperature: no counter', rising(10, 1), 'Cel', false],
    ['rising relative humidity: no counter', rising(10, 1), '%RH', false],
  ] as Array<[string, number[], string | null, boolean]>)(
    'Counter detection: %s',
    (_, values, unit, expected) => expect(isCounter(samples(values), unit)).toBe(expected),
  );

  test('Counter rate: the counter restarts: the rate after the restart is computed from zero', () => {
    const { shape, unit } = rateOf(samples([10, 12, 16, 4]), 'beats');
    expect([unit, shape.ts, shape.avg]).toEqual(['beats/s', [1000, 2000, 3000], [2, 4, 4]]);
  });

  test('Counter rate: a counter that rises once a minute or once a day: the rate is per minute or per day', () => {
    const { shape, unit } = rateOf(samples([0, 2, 4], 60_000), '/');
    expect([unit, shape.avg]).toEqual(['/min', [2, 2]]);
    expect(rateOf(samples([0, 0.1], 86_400_000), 'm3').unit).toBe('m3/d');
  });

  test('Counter rate: an energy counter: the rate is a power in W or kW', () => {
    const { shape, unit } = rateOf(samples([0, 1, 2], 3_600_000), 'kWh');
    expect([unit, shape.avg]).toEqual(['kW', [1, 1]]);
    expect(rateOf(samples([0, 500]), 'J')).toMatchObject({ unit: 'W', shape: { avg: [500] } });
  });
});

describe('A signal as it is drawn', () => {
  test('Drawn values of a sensor: large values: chart and sample table use the same unit prefix', () => {
    const shown = present(samples([1e9, 3e9]), labels, { choices: {} });
    expect(shown.scale.unit).toBe('GJ');
    expect(shown.shape.avg).toEqual([1, 3]);
    expect(shown.shape.min).toBe(shown.shape.max);
    expect(shown.values).toBe(shown.scale);
  });

  test('Drawn values of a sensor: no unit conversion needed: the arrays of values are not copied', () => {
    const shape = samples([1, 2]);
    expect(present(shape, labels, { choices: {} }).shape).toBe(shape);
    expect(inScale(shape, plainScale('J'))).toBe(shape);
  });

  test('Drawn values of a sensor: counter: the rate is drawn only on request, and never for falling values', () => {
    const shape = samples(rising(10, 5000));
    expect(present(shape, labels, { choices: {} })).toMatchObject({ isCounter: true, isRate: false });
    const rate = present(shape, labels, { choices: {}, asRate: true });
    expect([rate.isRate, rate.scale.unit, rate.values.unit]).toEqual([true, 'W', 'kJ']);
    expect(present(samples([3, 1]), labels, { choices: {}, asRate: true }).isRate).toBe(false);
  });

  test('Drawn values of a sensor: sensor named door that sends 0 and 1: no unit, and 0 is shown as closed', () => {
    const shown = present(samples([0, 1]), { name: 'door', type: null, unit: '/' }, { choices: {} });
    expect([shown.states?.(0), shown.scale.unit, shown.isCounter]).toEqual(['closed', '', false]);
  });

  test('Drawn values of a sensor: bin without average: after the unit conversion, the average is still null', () => {
    const shape = {
      ...emptyShape(RANGE),
      stepMs: 1000,
      ts: [0],
      min: [1e9],
      avg: [null],
      max: [2e9],
      count: [2],
    };
    expect(inScale(shape, scaleFor('J', [2e9]))).toMatchObject({ min: [1], avg: [null], max: [2] });
  });
});

describe('The point under the cursor', () => {
  const picture = drawn(shapeOfSamples({ ts: [0, 10, 20, 500, 510], value: [1, 2, 3, 4, 5] }, RANGE), 10);

  test('Chart cursor: between two samples: the nearest sample is chosen', () => {
    expect(entryUnder(picture, 12, 0)).toBe(1);
    expect(entryUnder(picture, 506, 0)).toBe(5);
  });

  test('Chart cursor: in a gap between samples: a sample is chosen only if it is near', () => {
    expect(picture.places).toEqual([0, 1, 2, -1, 3, 4]);
    expect([entryUnder(picture, 30, 5), entryUnder(picture, 260, 5), entryUnder(picture, 490, 5)]).toEqual([
      null,
      null,
      null,
    ]);
    expect([entryUnder(picture, 24, 5), entryUnder(picture, 497, 5)]).toEqual([2, 4]);
  });

  test('Chart cursor: before the first or after the last sample: that sample is chosen only if it is near', () => {
    expect([entryUnder(picture, -3, 5), entryUnder(picture, -9, 5)]).toEqual([0, null]);
    expect([entryUnder(picture, 514, 5), entryUnder(picture, 900, 5)]).toEqual([5, null]);
    expect(entryUnder({ columns: [[], [], [], []], places: [] }, 0, 5)).toBeNull();
  });

  test('Chart cursor text: gap: no sample here; state sample: the state name; bin of states: the names and a share', () => {
    expect(noSampleWords(0, UTC)).toEqual({
      when: '1970-01-01 00:00:00',
      value: 'no sample here',
      band: '',
    });
    const names = (value: number) => (value === 1 ? 'open' : 'closed');
    expect(pointWords(samples([0, 1]), 1, '', UTC, names)).toMatchObject({ value: 'open', band: '' });
    const bin = { ...emptyShape(RANGE), stepMs: 1000, ts: [0], min: [0], avg: [0.25], max: [1], count: [4] };
    expect(pointWords(bin, 0, '', UTC, names)).toMatchObject({
      value: 'closed to open',
      band: 'open in 25 % of the samples',
    });
  });
});
