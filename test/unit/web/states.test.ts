import { expect, test } from '@jest/globals';
import { drawn, shapeOfBins, shapeOfSamples } from '../../../web/chart/shape.ts';
import { statesOf, stateText, stretchesOf } from '../../../web/states.ts';

const RANGE = { from: 0, to: 100_000 };

const labels = (name: string | null, type: string | null = null, unit: string | null = null) => ({
  name,
  type,
  unit,
});
/** @param step ms between them */
const samples = (values: number[], step: number = 10) =>
  shapeOfSamples({ ts: values.map((_, at) => at * step), value: values }, RANGE);
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

test.each([
  ['door.open', null, ['closed', 'open']],
  ['frontDoor', null, ['closed', 'open']],
  ['isClosed', null, ['open', 'closed']],
  ['alarm.active', 'bool', ['inactive', 'active']],
  ['hall', 'motion', ['clear', 'detected']],
  ['pump-1', 'state', ['off', 'on']],
] as Array<[string | null, string | null, [string, string]]>)(
  'State names: sensor %s of the type %s that sends 0 and 1: %j',
  (name, type, [zero, one]) => {
    expect([0, 1].map((value) => stateText(labels(name, type, '/'), value))).toEqual([zero, one]);
  },
);

test('State detection: sensor without unit sends only 0 and 1: states; sensor name door: named closed and open', () => {
  expect(statesOf(samples([0, 1, 1]), labels('door'))?.(1)).toBe('open');
  expect(statesOf(samples([0, 1, 1]), labels('x'))?.(1)).toBe('1');
  expect(statesOf(bins([[0, 0.5, 1]]), labels('x', null, '/'))).not.toBeNull();
});

test('State detection: sensor sends a few whole numbers: states only if the sensor type names a state, such as mode', () => {
  expect(statesOf(samples([0, 3, 1]), labels('x', 'mode'))?.(3)).toBe('3');
  expect(statesOf(samples([0, 3, 1]), labels('x', 'count'))).toBeNull();
  expect(statesOf(samples([0, 3.5, 1]), labels('x', 'mode'))).toBeNull();
  expect(statesOf(samples([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]), labels('x', 'mode'))).toBeNull();
});

const bands = (shape: ReturnType<typeof samples>, intervalMs: number | null) =>
  stretchesOf(shape, drawn(shape, intervalMs)).map(({ from, to, value, share }) => [from, to, value, share]);

test('State bands of a chart: samples with states: each lasts until the next sample; equal neighbors form one band', () => {
  expect(bands(samples([0, 0, 1, 0]), 10)).toEqual([
    [0, 20, 0, 1],
    [20, 30, 1, 1],
    [30, 30, 0, 1],
  ]);
});

test('State bands of a chart: gap between samples: no band is drawn in the gap', () => {
  const shape = shapeOfSamples({ ts: [0, 10, 20, 500, 510], value: [1, 1, 1, 1, 1] }, RANGE);
  expect(bands(shape, 10)).toEqual([
    [0, 20, 1, 1],
    [500, 510, 1, 1],
  ]);
});

test('State bands of a chart: bin with two states: the band shows the share of the higher state', () => {
  expect(
    bands(
      bins([
        [0, 0, 0],
        [0, 0.25, 1],
      ]),
      250,
    ),
  ).toEqual([
    [0, 1000, 0, 1],
    [1000, 2000, 0, 0.25],
  ]);
});
