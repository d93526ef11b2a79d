import { expect, test } from '@jest/globals';
import { quantityOf, type UnitChoices, unitsOf, writeValue } from '../../../web/units.ts';

const written = (value: number | null, unit: string | null, choices?: UnitChoices) => {
  const { number, unit: text } = writeValue(value, unit, choices ? { choices } : {});
  return `${number} ${text}`.trim();
};

test.each([
  [458_829_358_764, 'J', '458.83 GJ'],
  [3_851_600, 'Pa', '3.852 MPa'],
  [101_326, 'Pa', '101.33 kPa'],
  [-1e-7, 'm', '−100 nm'],
  [5e-4, 'A', '500 µA'],
  [12_000, 'kWh', '12 MWh'],
  [1208.5, 'kWh', '1,208.5 kWh'],
  [0.0002, 'kW', '200 mW'],
  [20_000, 'ms', '20 s'],
  [2_500_000, 'B', '2.5 MB'],
  [9999, 'W', '9,999 W'],
  [0, 'W', '0 W'],
  [12_000, 'kg', '12,000 kg'],
  [4_200_000, 'm', '4,200 km'],
] as Array<[number, string, string]>)('Unit prefixes: %d %s: shown as "%s"', (value, unit, text) =>
  expect(written(value, unit)).toBe(text),
);

test.each([
  [45_000, 'Cel', '45,000 °C'],
  [25_000, '%', '25,000 %'],
  [4_005_385, 'beats', '4,005,385 beats'],
  [12_000, 'beat/min', '12,000 bpm'],
  [12_000, '/', '12,000'],
  [12_000, 'min', '12,000 min'],
  [12_000, 'constructor', '12,000 constructor'],
] as Array<[number, string, string]>)('Unit without prefixes: %d %s: shown as "%s"', (value, unit, text) =>
  expect(written(value, unit)).toBe(text),
);

test.each([
  [3_851_600, 'Pa', { pressure: 'bar' }, '38.52 bar'],
  [1013.25, 'hPa', { pressure: 'Pa' }, '101,325 Pa'],
  [2, 'MPa', { pressure: 'bar' }, '20 bar'],
  [20, 'Cel', { temperature: '°F' }, '68 °F'],
  [212, '[degF]', { temperature: '°C' }, '100 °C'],
  [0, 'Cel', { temperature: 'K' }, '273.15 K'],
  [10, 'm/s', { speed: 'km/h' }, '36 km/h'],
  [7_200_000, 'J', { energy: 'kWh' }, '2 kWh'],
  [1.5, 'MWh', { energy: 'kWh' }, '1,500 kWh'],
  [500, 'Wh', { energy: 'J' }, '1,800,000 J'],
  [20, 'Cel', { pressure: 'bar' }, '20 °C'],
  [20, 'Cel', { temperature: 'furlong' }, '20 °C'],
] as Array<[number, string, UnitChoices, string]>)(
  'Chosen units: %d %s with the choice %j: shown as %s',
  (value, unit, choices, text) => expect(written(value, unit, choices)).toBe(text),
);

test('Physical quantity of a unit: known unit, with or without prefix: found; other unit: null', () => {
  expect(['Cel', 'kPa', 'MPa', 'Wh', 'GJ', 'km/h'].map(quantityOf)).toEqual([
    'temperature',
    'pressure',
    'pressure',
    'energy',
    'energy',
    'speed',
  ]);
  expect(['%', 'beat/min', null, '', 'W', 'toString'].map(quantityOf)).toEqual(Array(6).fill(null));
  expect(unitsOf('temperature')).toEqual(['°C', '°F', 'K']);
});
