import { expect, test } from '@jest/globals';
import { shapeOfSamples } from '../../../../../web/chart/shape.ts';
import { csvOf } from '../../../../../web/features/export/buttons.tsx';

test('CSV download of a chart: names with quotes or a formula: names are quoted, and the formula is disabled', () => {
  const shape = shapeOfSamples({ ts: [0, 1000], value: [21.5, 22] }, { from: 0, to: 2000 });
  expect(csvOf([{ device: 'a, "b"', sensor: '=1+1', unit: null, shape }])).toBe(
    [
      'device,sensor,unit,ts,avg,min,max,count',
      `"a, ""b""",'=1+1,,1970-01-01T00:00:00.000Z,21.5,21.5,21.5,1`,
      `"a, ""b""",'=1+1,,1970-01-01T00:00:01.000Z,22,22,22,1`,
      '',
    ].join('\n'),
  );
});
