import { expect, test } from '@jest/globals';
import { encode } from 'cborg';
import fc from 'fast-check';
import {
  checkApart,
  checkDoor,
  decoder,
  NOW,
  nested,
  part,
  type Result,
  readMessage,
} from '../../support/payloads/sources.ts';

test('Map of sensors: two different paths: different sensors, or a refusal', () => {
  checkDoor((tokens, value) => readMessage(nested(tokens, value)));
});

test('SenML: two names: different sensors, unless base name and name together are equal (RFC 8428, section 4.5.1)', () => {
  const property = fc.property(part, part, part, part, (bn, n, otherBn, other) => {
    const results = [readMessage([{ bn, n, v: 1 }]), readMessage([{ bn: otherBn, n: other, v: 2 }])];
    checkApart(results, bn + n === otherBn + other);
  });
  fc.assert(property, { numRuns: 300 });
});

test.each([
  [
    'members a.b and a with b',
    () => readMessage({ a: { b: 1 }, 'a.b': 2 }),
    ['d/a.b 1', String.raw`d/a\.b 2`],
  ],
  ['a member a.0, and an array', () => readMessage({ a: [1], 'a.0': 2 }), ['d/a.0 1', String.raw`d/a\.0 2`]],
  [
    'a decimal in a name',
    () => readMessage({ 'PM2.5': 1, PM2: { 5: 2 } }),
    ['d/PM2.5 1', String.raw`d/PM2\.5 2`],
  ],
  [
    'CBOR: label 2 and label "v"',
    () =>
      readMessage(
        Buffer.from(
          encode([
            new Map([
              [0, 'a'],
              [2, 1],
              ['v', 2],
            ] as never),
          ]),
        ),
      ),
    ['refused malformed'],
  ],
  [
    'CBOR: label 2 twice',
    () => readMessage(Buffer.from('81a3006161020102182a', 'hex')),
    ['refused malformed'],
  ],
  [
    'SenML: base name a and name bc, base name ab and name c',
    () =>
      readMessage([
        { bn: 'a', n: 'bc', v: 1 },
        { bn: 'ab', n: 'c', v: 2 },
      ]),
    ['d/abc 1', 'd/abc 2'],
  ],
] as Array<[string, () => Result, Result]>)(
  'Two sources: %s: two sensors, or a refusal',
  (_, read, expected) => expect(read()).toEqual(expected),
);

const counts = (content: unknown) =>
  decoder.decode(Buffer.from(JSON.stringify(content)), undefined, NOW).measurementCounts();

test('Plain JSON: other members than sensor_id, ts and value: skipped and counted', () => {
  const content = { sensor_id: 't', value: 1, humidity: 40, unit: 'C' };
  expect(counts(content)).toEqual({ received: 3, stored: 1, merged: 0, refused: 0, skipped: 2 });
});
