import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Series } from '../../../simulator/payloads/index.ts';
import { encodePlainJson } from '../../../simulator/payloads/plain-json.ts';
import { EARLIEST_SENML_MS, encodeSenml, isSenmlName } from '../../../simulator/payloads/senml.ts';
import { resolveSenml } from '../../support/payloads/senml-resolver.ts';

const anySeries = fc.array(
  fc.record({
    name: fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/),
    unit: fc.option(fc.constantFrom('Cel', 'm', '1/min'), { nil: undefined }),
    samples: fc.array(
      fc.record({
        ts: fc.integer({ min: EARLIEST_SENML_MS, max: 4_102_444_800_000 }),
        value: fc.double({ noNaN: true, noDefaultInfinity: true }),
      }),
      { maxLength: 20 },
    ),
  }),
  { maxLength: 5 },
);

const flat = (series: Series[]) =>
  series.flatMap(({ name, unit, samples }) => samples.map(({ ts, value }) => ({ name, unit, ts, value })));

test('SenML payload: read by an independent decoder: equal samples, to the millisecond', () => {
  fc.assert(
    fc.property(anySeries, (series) => {
      expect(resolveSenml(JSON.parse(encodeSenml(series)))).toEqual(flat(series));
    }),
  );
});

test('Plain JSON payload: random samples: JSON.parse() returns equal samples', () => {
  fc.assert(
    fc.property(anySeries, (series) => {
      const expected = flat(series).map(({ name, ts, value }) => ({ sensor_id: name, ts, value }));
      expect(JSON.parse(encodePlainJson(series))).toEqual(expected);
    }),
  );
});

test.each([
  ['temperature-2', true],
  ['urn:dev:mac:0024befffe804ff1', true],
  ['adjusted CO2', false],
  ['-a', false],
  ['', false],
])('SenML payload: name %j is valid: %s', (name, allowed) => expect(isSenmlName(name)).toBe(allowed));
