import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MessageBatch, timeRefusal } from '../../../../api/ingest/decode/message-batch.ts';

const NOW = Date.UTC(2026, 10, 21);
const rules = { receivedAt: NOW, oldest: NOW - 1000, newest: NOW + 100, relative: true };

test('Decoded message: times at the oldest and newest limit: accepted; 1 ms beyond: too_old and in_future', () => {
  const batch = new MessageBatch(rules);
  for (const [index, ts] of [NOW - 1001, NOW - 1000, NOW + 100, NOW + 101].entries())
    batch.add(index, 't', ts, 1);
  expect(batch.sensors.get('t')?.indexes).toEqual([1, 2]);
  expect(batch.refused).toMatchObject([
    { index: 0, code: 'too_old' },
    { index: 3, code: 'in_future' },
  ]);
});

test('Decoded message: a relative time: added to the receipt time; with RELATIVE_TIMES off: bad_timestamp', () => {
  const taking = new MessageBatch(rules);
  taking.addRelative(0, 't', -5, 1);
  expect(taking.sensors.get('t')?.times).toEqual([NOW - 5]);
  expect(taking.counts.relative).toBe(1);
  const refusing = new MessageBatch({ ...rules, relative: false });
  refusing.addRelative(0, 't', -5, 1);
  expect(refusing.refused).toMatchObject([{ index: 0, code: 'bad_timestamp' }]);
});

const element = fc.record({
  sensor: fc.constantFrom('a', 'b', '__proto__', 'constructor'),
  ts: fc.integer({ min: NOW - 1200, max: NOW + 200 }),
  value: fc.double(),
});

test('Decoded message: any measurements: each is either accepted or refused, once', () => {
  fc.assert(
    fc.property(fc.array(element), fc.constantFrom('a', '__proto__', 'z'), (elements, out) => {
      const batch = new MessageBatch(rules);
      for (const [index, { sensor, ts, value }] of elements.entries()) batch.add(index, sensor, ts, value);
      batch.refuseSensor(out, 'unknown_sensor');
      const taken = [...batch.sensors.values()].flatMap(({ indexes }) => indexes);
      const refused = batch.refused.map(({ index }) => index);
      expect([...taken, ...refused].sort((a, b) => a - b)).toEqual(elements.map((_, index) => index));
      expect(batch.counts.samples).toBe(taken.length);
      expect(batch.sensors.has(out)).toBe(false);
    }),
  );
});

test('Decoded message: keepOnly() of any measurements: others are removed, refusals of the whole message are kept', () => {
  fc.assert(
    fc.property(fc.array(element), fc.integer({ min: 1, max: 4 }), (elements, every) => {
      const isWanted = (index: number) => index % every === 0;
      const batch = new MessageBatch(rules);
      const expected = new MessageBatch(rules);
      for (const both of [batch, expected]) both.refuse(-1, 'too_large');
      for (const [index, { sensor, ts, value }] of elements.entries()) {
        batch.countReceived(1);
        batch.add(index, sensor, ts, value);
        if (!isWanted(index)) continue;
        expected.countReceived(1);
        expected.add(index, sensor, ts, value);
      }
      batch.skip();
      batch.keepOnly(isWanted);
      expect(batch.sensors).toEqual(expected.sensors);
      expect(batch.refused).toEqual(expected.refused);
      expect(batch.counts).toEqual(expected.counts);
    }),
  );
});

test.each([
  ['seconds of the oldest time', rules.oldest / 1000, true],
  ['seconds of the newest time', rules.newest / 1000, true],
  ['seconds before the oldest time', rules.oldest / 1000 - 1, false],
  ['seconds after the newest time', rules.newest / 1000 + 1, false],
  ['half of the seconds', NOW / 2000, false],
])('Decoded message: ts is %s (%d): too_old, with a question about seconds: %s', (_, ts, asks) => {
  const batch = new MessageBatch(rules);
  batch.add(0, 't', ts, 1);
  const [refusal] = batch.refused;
  expect(refusal?.code).toBe('too_old');
  expect(String(refusal?.rule).includes('did you send seconds?')).toBe(asks);
});

/** Rules of a process whose TS_UNIT is s. */
const inSeconds = { ...rules, unitMs: 1000 };

test.each([
  ['before the oldest', NOW - 1001, 'too_old', /must not be before 2026-11-20T23:59:59/],
  ['the oldest', NOW - 1000, undefined, undefined],
  ['the newest', NOW + 100, undefined, undefined],
  ['after the newest', NOW + 101, 'in_future', /must not be after 2026-11-21T00:00:00/],
])('Decoded message: a time is %s: isTimely() and timeRefusal() agree: %#', (_, ts, code, rule) => {
  expect(new MessageBatch(rules).isTimely(ts)).toBe(code === undefined);
  const refusal = timeRefusal(ts, rules);
  expect(refusal?.code).toBe(code);
  if (rule) expect(refusal?.rule).toMatch(rule);
});

test.each([
  ['a whole number', rules, NOW, NOW],
  ['a fraction', rules, NOW + 0.5, null],
  ['a fraction, TS_UNIT is s', inSeconds, NOW / 1000 + 0.0015, NOW + 2],
  ['an infinite number', rules, Number.POSITIVE_INFINITY, null],
  ['an infinite number, TS_UNIT is s', inSeconds, Number.POSITIVE_INFINITY, null],
  ['a truth value', rules, true, null],
  ['a truth value, TS_UNIT is s', inSeconds, true, null],
])('Decoded message: ts is %s: timeOf() returns milliseconds or null: %#', (_, own, ts, expected) => {
  expect(new MessageBatch(own).timeOf(ts)).toBe(expected);
});

const WHOLE_MS = 'must be whole epoch milliseconds or ISO 8601';
const SECONDS = 'must be epoch seconds, since TS_UNIT is s, or ISO 8601';

test.each([
  ['seconds of the oldest time', rules, rules.oldest / 1000, /did you send seconds/],
  ['seconds of the newest time', rules, rules.newest / 1000, /did you send seconds/],
  ['seconds before the oldest time', rules, rules.oldest / 1000 - 0.5, WHOLE_MS],
  ['seconds after the newest time', rules, rules.newest / 1000 + 0.5, WHOLE_MS],
  ['half of the seconds', rules, NOW / 2000, WHOLE_MS],
  ['seconds as a text', rules, String(NOW / 1000), WHOLE_MS],
  ['a text', inSeconds, 'yesterday', SECONDS],
])('Decoded message: unreadable ts, %s: bad_timestamp, and a suggestion: %#', (_, own, ts, rule) => {
  const batch = new MessageBatch(own);
  batch.refuseTime(3, ts);
  expect(batch.refused).toEqual([
    {
      index: 3,
      code: 'bad_timestamp',
      path: '[3].ts',
      rule: typeof rule === 'string' ? rule : expect.stringMatching(rule),
    },
  ]);
});

test.each([
  ['milliseconds of the oldest time', inSeconds, rules.oldest * 1000, true],
  ['milliseconds of the newest time', inSeconds, rules.newest * 1000, true],
  ['milliseconds before the oldest time', inSeconds, (rules.oldest - 1) * 1000, false],
  ['milliseconds after the newest time', inSeconds, (rules.newest + 1) * 1000, false],
  ['twice the milliseconds', rules, NOW * 2, false],
])(
  'Decoded message: ts is %s: refused as in_future, with a question about milliseconds if plausible',
  (_, own, ts, asks) => {
    const batch = new MessageBatch(own);
    batch.add(0, 't', ts, 1);
    const [refusal] = batch.refused;
    expect(refusal?.code).toBe('in_future');
    expect(String(refusal?.rule).includes('did you send milliseconds?')).toBe(asks);
  },
);
