import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { lineName, lineNames, nameOfParts, withoutMarks } from '../../../schema/sensor-names.ts';

/** Parts of the characters that may be confused. */
const part = fc.string({ unit: fc.constantFrom('.', '\\', '1', '2', 'a', '{', '}', '=', ','), maxLength: 5 });

test.each([
  [['temperature'], 'temperature'],
  [['battery', 'level'], 'battery.level'],
  [['PM2.5'], 'PM2.5'],
  [['1-0:1.8.0'], '1-0:1.8.0'],
  [['ENERGY', 'Power', '0'], 'ENERGY.Power.0'],
  [['switch:0', 'apower'], 'switch:0.apower'],
  [['a.b'], String.raw`a\.b`],
  [['PM2', '5'], String.raw`PM2\.5`],
  [['a\\', 'b'], String.raw`a\\.b`],
])('Name of a sensor: parts %j: %s', (parts, name) => {
  expect(nameOfParts(parts)).toBe(name);
  expect(withoutMarks(name)).toBe(parts.join('.'));
});

test('Name of a sensor: different parts: different names', () => {
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 1, maxLength: 4 }),
      fc.array(part, { minLength: 1, maxLength: 4 }),
      (one, other) => {
        expect(nameOfParts(one) === nameOfParts(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
      },
    ),
    { numRuns: 2000 },
  );
});

const source = fc.tuple(part, fc.dictionary(part, part, { maxKeys: 2, noNullPrototype: true }), part);
const nameOf = ([measurement, tags, field]: [string, Record<string, string>, string]) =>
  lineName(lineNames(measurement, Object.entries(tags)), field);
const keyOf = ([measurement, tags, field]: [string, Record<string, string>, string]) =>
  JSON.stringify([measurement, field, Object.entries(tags).sort()]);

test.each([
  ['cpu', {}, 'usage_idle', 'cpu.usage_idle'],
  ['modbus', { line: '3' }, 'temperature', 'modbus.temperature{line=3}'],
  ['room.temperature', {}, 'gauge', 'room.temperature.gauge'],
  ['net.bytes', {}, 'in', 'net.bytes.in'],
  ['net', {}, 'bytes.in', String.raw`net.bytes\.in`],
  ['latency', {}, '0.99', 'latency.0.99'],
  ['m', { a: '1' }, 'v', 'm.v{a=1}'],
  ['m', {}, 'v{a=1}', String.raw`m.v\{a=1}`],
] as Array<[string, Record<string, string>, string, string]>)(
  'Name of a sensor: measurement %s, tags %j, field %s: %s',
  (measurement, tags, field, name) => {
    expect(nameOf([measurement, tags, field])).toBe(name);
  },
);

test('Name of a sensor: different measurement, tags or field: different names', () => {
  fc.assert(
    fc.property(source, source, (one, other) => {
      expect(nameOf(one) === nameOf(other)).toBe(keyOf(one) === keyOf(other));
    }),
    { numRuns: 5000 },
  );
});
