import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MessageDecoder } from '../../../../api/ingest/decode/index.ts';
import { nameOfPart } from '../../../../schema/sensor-names.ts';

const NOW = Date.UTC(2026, 10, 22, 12);
const DAY_MS = 86_400_000;
const limits = { historyMs: 365 * DAY_MS, maxClockSkewMs: 300_000, relativeTimes: true };

const textOf = (value: unknown) => (Object.is(value, -0) ? '-0' : String(value));

function read(content: unknown, others?: Partial<ConstructorParameters<typeof MessageDecoder>[0]>) {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const batch = new MessageDecoder({ ...limits, ...others }).decode(Buffer.from(text), undefined, NOW);
  return {
    batch,
    counts: batch.counts,
    /** such as `temperature 21.5 -1000`: sensor, value, and time in ms after the receipt unless it is 0 */
    found: [...batch.sensors].flatMap(([sensor, { times, values }]) =>
      times.map((ts, at) => [sensor, textOf(values[at]), ...(ts === NOW ? [] : [ts - NOW])].join(' ')),
    ),
    refused: batch.refused.map(({ index, code, path, rule }) => [index, code, `${path}: ${rule}`]),
  };
}

test.each([
  ['numbers', { temperature: 21.5, humidity: 40 }, ['temperature 21.5', 'humidity 40']],
  ['true and false', { on: true, open: false }, ['on 1', 'open 0']],
  [
    'nested objects',
    { battery: { level: 80, cell: { volts: 3.7 } } },
    ['battery.level 80', 'battery.cell.volts 3.7'],
  ],
  ['a time in ms', { ts: NOW - 5, t: 1 }, ['t 1 -5']],
  ['a time as text', { ts: '2026-11-22T11:59:59Z', temperature: 1 }, ['temperature 1 -1000']],
  ['a ts further inside, which is a sensor', { a: { ts: 7 } }, ['a.ts 7']],
  ['a time named time', { time: NOW - 5, t: 1 }, ['t 1 -5']],
  ['a time named timestamp', { timestamp: '2026-11-22T11:59:59Z', t: 1 }, ['t 1 -1000']],
  ['two times: time counts', { timestamp: 7, time: NOW - 5 }, ['timestamp 7 -5']],
  ['time next to ts, which is a sensor', { time: 35, ts: NOW - 5, t: 1 }, ['time 35 -5', 't 1 -5']],
  ['a time that is null: that of the receipt', { time: null, t: 1 }, ['t 1']],
  ['a time that is empty: that of the receipt', { time: ' ', t: 1 }, ['t 1']],
  ['a time of day: that of the receipt', { time: '16:03', t: 1 }, ['t 1']],
  ['a time of day with seconds: that of the receipt', { timestamp: '4:03:59.5 PM', t: 1 }, ['t 1']],
  ['a time of day next to a timestamp', { time: '16:03', timestamp: NOW - 5, t: 1 }, ['t 1 -5']],
  ['a time that is an object of sensors', { time: { on: 3 }, t: 1 }, ['time.on 3', 't 1']],
  ['a time further inside, which is a sensor', { a: { time: 7 } }, ['a.time 7']],
  ['-0', '{"temperature":-0}', ['temperature -0']],
  [
    'an array of numbers, one for each phase',
    { power: [11, null, true], 'PM2.5': 7 },
    ['power.0 11', 'power.2 1', 'PM2.5 7'],
  ],
  [
    'an array of maps',
    [
      { ts: NOW - 1, temperature: 1 },
      { ts: NOW, temperature: 2 },
    ],
    ['temperature 1 -1', 'temperature 2'],
  ],
])('Map of sensors: payload with %s: numbers are stored by sensor name', (_, content, expected) => {
  expect(read(content)).toMatchObject({ found: expected, refused: [] });
});

test('Map of sensors: member ts is a text: the time of the map at the top level; skipped in a nested object', () => {
  const ts = new Date(NOW - 5).toISOString();
  const own = read({ ts, temperature: 1 });
  expect([own.found, own.counts.skipped]).toEqual([['temperature 1 -5'], 0]);
  const inner = read({ temperature: 1, battery: { ts, level: 80 } });
  expect(inner.found).toEqual(['temperature 1', 'battery.level 80']);
  expect(inner.counts.skipped).toBe(1);
});

test('Map of sensors: any map of numbers: each number is stored once under its key', () => {
  const key = fc
    .string({ minLength: 1 })
    .filter((name) => !['ts', 'sensor_id', 'value', 'n', 'bn'].includes(name));
  // JSON.stringify writes -0 as 0.
  const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
  fc.assert(
    fc.property(fc.dictionary(key, number, { minKeys: 1 }), (map) => {
      const { found } = read({ ts: NOW, ...map });
      expect(found).toEqual(Object.entries(map).map(([name, value]) => `${nameOfPart(name)} ${value}`));
    }),
  );
});

const DEEP = 'must not be in more than 8 objects';
const deep = (levels: number) => `{"ok":1,${'"a":{'.repeat(levels)}"b":1${'}'.repeat(levels)}}`;

test.each([
  [{ a: 1, b: '21.5' }, [1, 'not_numeric', 'b: must be a number, without quotation marks']],
  [{ a: 1, b: { c: ' -3e5 ' } }, [1, 'not_numeric', 'b.c: must be a number, without quotation marks']],
  [
    { a: 1, b: [1, {}] },
    [1, 'not_numeric', 'b: must not be an array of objects or arrays; send an object with a name for each'],
  ],
  [
    { a: 1, b: Array(101).fill(1) },
    [1, 'not_numeric', 'b: must not have more than 100 elements; each would become a sensor'],
  ],
  [{ a: 1, 'x.y': { z: '1' } }, [1, 'not_numeric', 'x.y.z: must be a number, without quotation marks']],
  ['{"a":1,"b":1e999}', [1, 'not_finite', 'b: must be a finite number']],
  [deep(8), [1, 'malformed', `${'a.'.repeat(7)}a: ${DEEP}`]],
  [
    [{ a: 1 }, { state: 'on' }],
    [
      1,
      'not_numeric',
      '[1]: has no number; a map of sensors looks like {"temperature": 21.5, "humidity": 40}',
    ],
  ],
  [
    [{ a: 1 }, 7],
    [1, 'malformed', '[1]: must be an object'],
  ],
  [
    [{ a: 1 }, []],
    [1, 'malformed', '[1]: must be an object'],
  ],
  [
    [{ a: 1 }, { sensor_id: 't', value: 1 }],
    [
      1,
      'bad_id',
      '[1].sensor_id: is missing; a measurement looks like {"sensor_id": "temperature", "value": 21.5}',
    ],
  ],
])('Map of sensors: %j: one value is refused, and the other values are stored', (content, refusal) => {
  const { refused, counts } = read(content);
  expect([refused, counts.samples]).toEqual([[refusal], 1]);
});

test.each([
  [{}, ''],
  [{ ts: NOW }, ''],
  [[{}], '[0]'],
])('Map of sensors: %j has no number: one refusal with not_numeric', (content, path) => {
  expect(read(content).refused).toEqual([
    [0, 'not_numeric', expect.stringContaining(`${path}: has no number`)],
  ]);
});

test.each([
  [{ value: 1 }],
  [{ n: 'temperature', v: 1 }],
  [{ bn: 'temperature', v: 1 }],
  [{ sensor: 'temperature', value: 21.5 }],
])('Map of sensors: %j looks like a single measurement: refused, because sensor_id is missing', (content) => {
  const { found, refused } = read(content);
  expect([found, refused]).toEqual([[], [[0, 'bad_id', expect.stringContaining('sensor_id: is missing')]]]);
});

test('Map of sensors: ts is no time: each value is refused with the path of ts', () => {
  const { refused } = read([{ a: 1 }, { ts: 'now', b: 1, c: 2 }]);
  const rule = '[1].ts: must be whole epoch milliseconds or ISO 8601';
  expect(refused).toEqual([
    [1, 'bad_timestamp', rule],
    [2, 'bad_timestamp', rule],
  ]);
});

test('Map of sensors: 10,000 values: stored; one more: refused with too_large', () => {
  const map = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`s${at}`, at]));
  expect(read(map(10_000)).counts.samples).toBe(10_000);
  expect(read(map(10_001)).refused).toMatchObject([[-1, 'too_large', expect.anything()]]);
});

const asPlain = (ts: unknown) => ({ sensor_id: 't', ts, value: 1 });

test('Plain JSON: ts in seconds while TS_UNIT is ms: refused with a question about seconds', () => {
  for (const seconds of [NOW / 1000, NOW / 1000 + 0.25]) {
    expect(read(asPlain(seconds)).refused).toMatchObject([
      [0, expect.anything(), expect.stringMatching(/^ts: .*did you send seconds\?$/)],
    ]);
  }
});

test.each([
  ['s', NOW / 1000 - 1, -1000],
  ['s with a fraction', NOW / 1000 - 1.2345, -1234],
  ['ms', NOW - 1, -1],
  ['µs', (NOW - 1) * 1e3, -1],
  ['µs with less than a millisecond', (NOW - 1) * 1e3 + 400, -1],
  // No double has exactly these nanoseconds.
  ['ns', (NOW - 1) * 1e6, -1],
  ['the oldest, in s', NOW / 1000 - 365 * 86_400, -365 * DAY_MS],
  ['the newest, in ns', (NOW + 300_000) * 1e6, 300_000],
])('Map of sensors: a time in %s: read, with any TS_UNIT and any time member', (_, time, expected) => {
  for (const tsUnitMs of [1, 1000]) {
    for (const name of ['ts', 'time', 'timestamp']) {
      const { found, refused } = read({ [name]: time, t: 1 }, { tsUnitMs });
      expect([found, refused]).toEqual([[`t 1 ${expected}`], []]);
    }
  }
});

test.each([
  ['seconds since the start of a device', 35],
  ['seconds before the oldest', NOW / 1000 - 366 * 86_400],
  ['a time that is good in no unit', NOW * 10],
  ['beyond any time', 1e300],
  ['a negative number of ms', -NOW],
])('Map of sensors: member time is %s: refused as too_old or in_future', (_, time) => {
  const { found, refused } = read({ time, t: 1 });
  expect(found).toEqual([]);
  expect(refused).toEqual([[0, expect.stringMatching(/^(?:too_old|in_future)$/), expect.any(String)]]);
});
