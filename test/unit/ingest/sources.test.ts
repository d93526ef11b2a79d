import { describe, expect, test } from '@jest/globals';
import { encode } from 'cborg';
import fc from 'fast-check';
import { Mappings, parseMappings } from '../../../api/ingest/mappings/index.ts';
import { readMapped, readSamples } from '../../support/payloads/mappings.ts';
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

const FILE = `mappings:
  - { name: all, topic: 'all/{device}', values: [{ all: '' }] }
  - { name: level, topic: 'level/{device}/{sensor}', values: [{ all: '' }] }
  - { name: part, topic: 'part/{device}/{component}', values: [{ all: '', sensor: '{component}.{path}' }] }
  - { name: dash, topic: 'dash/{device}/{room}', values: [{ all: '', sensor: '{room}-{path}' }] }
  - { name: site, topic: 'site/{room}/{unit}', device: '{room}-{unit}', values: [{ pointer: '' }] }
  - { name: two, topic: 'two/{device}', values: [{ pointer: /a, sensor: s }, { pointer: /b, sensor: s }] }
  - { name: id, topic: id, device: { pointer: /id }, values: [{ pointer: /v, sensor: v }] }
  - { name: each, topic: 'each/{device}', each: '', values: [{ pointer: /v, sensor: { pointer: /n } }] }
`;
const mappings = new Mappings(parseMappings(FILE, 'mappings.yaml'));

function readTopic(topic: string, content: unknown): Result {
  try {
    const payload = Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
    const read = readSamples(mappings, topic, payload, NOW);
    return [
      ...Object.entries(read.values).flatMap(([sensor, samples]) =>
        samples.map(([, value]) => `${read.device}/${sensor} ${value}`),
      ),
      ...read.refused.map(({ code }: { code: string }) => `refused ${code}`),
    ];
  } catch (error) {
    return [`refused ${(error as { code: string }).code}`];
  }
}

describe('Two sources', () => {
  test('Map of sensors: two different paths: different sensors, or a refusal', () => {
    checkDoor((tokens, value) => readMessage(nested(tokens, value)));
  });

  test('Mapping: two different paths or levels: different sensors, or a refusal', () => {
    checkDoor((tokens, value) => readTopic('all/d', nested(tokens, value)));
    for (const name of ['level', 'part', 'dash'])
      checkDoor(([level, ...tokens], value) => readTopic(`${name}/d/${level}`, nested(tokens, value)));
    checkDoor(([room, unit], value) => readTopic(`site/${room}/${unit}`, value), 2);
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
    [
      'a member a.0, and an array',
      () => readMessage({ a: [1], 'a.0': 2 }),
      ['d/a.0 1', String.raw`d/a\.0 2`],
    ],
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

  test.each([
    ['two/d', { a: 1, b: 2 }, ['d/s 1', 'refused bad_id']],
    ['two/d', { b: 2 }, ['d/s 2']],
    ['all/d', { a: [7], b: { 0: 8 } }, ['d/a.0 7', 'd/b.0 8']],
    ['id', '{"id":9007199254740993,"v":1}', ['refused bad_id']],
    ['id', '{"id":7,"v":1}', ['7/v 1']],
  ])('Mapping: topic %s, payload %j: %j', (topic, content, expected) => {
    expect(readTopic(topic, content)).toEqual(expected);
  });

  test('Mapping: topics living-room/lamp and living/room-lamp, names joined by a dash: the second is refused', () => {
    for (const _ of [1, 2]) {
      expect(readTopic('site/living-room/lamp', 1)).toEqual(['living-room-lamp/value 1']);
      expect(readTopic('site/living/room-lamp', 2)).toEqual(['refused bad_id']);
    }
  });
});

describe('What is not stored', () => {
  const counts = (content: unknown) =>
    decoder.decode(Buffer.from(JSON.stringify(content)), undefined, NOW).measurementCounts();

  test('Plain JSON: other members than sensor_id, ts and value: skipped and counted', () => {
    const content = { sensor_id: 't', value: 1, humidity: 40, unit: 'C' };
    expect(counts(content)).toEqual({ received: 3, stored: 1, merged: 0, refused: 0, skipped: 2 });
  });

  test('Mapping: an element of each without a value: skipped and counted', () => {
    const content = JSON.stringify([{ n: 'a', v: 1 }, 7, { n: 'b' }]);
    expect(readMapped(mappings, 'each/d', Buffer.from(content), NOW)).toMatchObject({
      skipped: 2,
      refused: [],
    });
  });

  test('Mapping: an array of objects, a list of more than 100 numbers, and values in nine objects: refused, the others are stored', () => {
    const content = { a: [{ b: 1 }], c: Array(101).fill(1), d: nested([...'12345678'], 1), e: [], f: 5 };
    expect(readTopic('all/d', content)).toEqual(['d/f 5', ...Array(3).fill('refused not_numeric')]);
  });
});
