import { describe, expect, test } from '@jest/globals';
import { encode } from 'cborg';
import fc from 'fast-check';
import { readCsv } from '../../../api/features/import/text.ts';
import { LineDecoder } from '../../../api/features/line-protocol/decoder.ts';
import { LineSkip } from '../../../api/features/line-protocol/skip.ts';
import { MessageDecoder } from '../../../api/ingest/decode/index.ts';
import { Mappings, parseMappings } from '../../../api/ingest/mappings/index.ts';
import { readMapped, readSamples } from '../../support/payloads/mappings.ts';

const NOW = Date.UTC(2026, 10, 22, 12);
const decoder = new MessageDecoder({ historyMs: 86_400_000, maxClockSkewMs: 0, relativeTimes: true });
const lines = new LineDecoder({
  deviceTags: ['device'],
  skip: new LineSkip([]),
  emptyBatch: (at) => decoder.emptyBatch(at),
});

/** A sensor with its value, or a refusal. */
type Result = string[];

const resultOf = (device: string, { sensors, refused }: ReturnType<typeof decoder.decode>): Result => [
  ...[...sensors].flatMap(([sensor, { values }]) => values.map((value) => `${device}/${sensor} ${value}`)),
  ...refused.map(({ code }) => `refused ${code}`),
];

function readMessage(content: Buffer | string | object): Result {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const payload = Buffer.isBuffer(content) ? content : Buffer.from(text);
  return resultOf('d', decoder.decode(payload, undefined, NOW));
}

function readLines(text: string): Result {
  const { devices, refused } = lines.decode(Buffer.from(text), 'ns', NOW);
  const batches = [...devices].flatMap(([device, all]) => all.flatMap((batch) => resultOf(device, batch)));
  return [...batches, ...refused.map(({ code }) => `refused ${code}`)];
}

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

const part = fc.string({
  unit: fc.constantFrom('.', '\\', '1', '2', 'a', '-', '{', '=', ','),
  minLength: 1,
  maxLength: 4,
});
const path = fc.array(part, { minLength: 1, maxLength: 3 });

const nested = (tokens: string[], value: number): object =>
  tokens.reduceRight((inner: unknown, token) => ({ [token]: inner }), value) as object;

/** Checks that two sources share no name, unless one of them is refused. */
function checkApart(results: Result[], areSame: boolean) {
  const [one, other] = results.map((all) => all.filter((each) => !each.startsWith('refused')));
  const [first, second] = [one, other].map((all) => all?.[0]?.replace(/ \d$/, ''));
  if (areSame || first === undefined || second === undefined) return;
  expect(first).not.toBe(second);
}

/** Divides one text at different dots, because independent texts are seldom joined to the same name. */
const divided: fc.Arbitrary<[string[], string[]]> = fc
  .tuple(
    fc.string({
      unit: fc.constantFrom('.', '.', '-', '\\', '1', '2', 'a', '{', '=', ','),
      minLength: 3,
      maxLength: 8,
    }),
    fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
    fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
  )
  .map(([text, one, other]) => {
    const divide = (cuts: boolean[]) =>
      text.split(/([.-])/).reduce(
        (parts, piece, index) => {
          if (index % 2 === 1 && cuts[index]) parts.push('');
          else parts[parts.length - 1] += piece;
          return parts;
        },
        [''],
      );
    return [divide(one), divide(other)] as [string[], string[]];
  });

/** @param size number of parts of a source; default: any */
function checkDoor(read: (source: string[], value: number) => Result, size?: number) {
  const pairs = fc.oneof(divided, fc.tuple(path, path));
  const isFit = (parts: string[]) =>
    (size === undefined || parts.length === size) && parts.every((each) => each !== '');
  const property = fc.property(
    pairs.filter((pair) => pair.every(isFit)),
    ([one, other]) =>
      checkApart([read(one, 1), read(other, 2)], JSON.stringify(one) === JSON.stringify(other)),
  );
  fc.assert(property, { numRuns: 400 });
}

/** @returns escaped as a measurement, a tag or a field of line protocol */
const escaped = (text: string): string => text.replaceAll(/[,= ]/g, '\\$&').replaceAll(/\\$/g, '\\x');

describe('Two sources', () => {
  test('Line protocol: two different series: different sensors, or a refusal', () => {
    const sends = (measurement: string, field: string, value: number) =>
      readLines(`${escaped(measurement)},device=d ${escaped(field)}=${value}`);
    checkDoor(([measurement = '', field = ''], value) => sends(measurement, field, value), 2);
    const tag = fc.tuple(
      fc.constantFrom('v', 'v{a=1}', 'v{a=1,b=2}'),
      fc.constantFrom('', ',a=1', ',a=1\\,b\\=2', ',a=1,b=2'),
    );
    const property = fc.property(tag, tag, (one, other) => {
      const results = [one, other].map(([field, tags], value) =>
        readLines(`m,device=d${tags} ${escaped(field)}=${value}`),
      );
      checkApart(results, JSON.stringify(one) === JSON.stringify(other));
    });
    fc.assert(property);
  });

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

  test('CSV import: two columns: different sensors, or the file is refused', async () => {
    const column = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '.'), minLength: 1, maxLength: 3 });
    const property = fc.asyncProperty(column, column, async (one, other) => {
      async function* source() {
        yield Buffer.from(`ts,${one},${other}\n1,1,2\n`);
      }
      const names = [];
      try {
        for await (const { sensor } of readCsv(source(), { device: 'd' })) names.push(...Array.from(sensor));
      } catch (error) {
        expect(error).toMatchObject({ code: 'bad_file' });
      }
      expect(new Set(names).size).toBe(names.length);
    });
    await fc.assert(property);
  });

  test.each([
    [
      'telegraf#595: measurement net.bytes and field in, measurement net and field bytes.in',
      () => readLines('net.bytes,device=d in=1\nnet,device=d bytes.in=2'),
      ['d/net.bytes.in 1', String.raw`d/net.bytes\.in 2`],
    ],
    [
      'telegraf#876: a tag, and a field that looks like one',
      () => readLines(String.raw`m,device=d,a=1 v=3${'\n'}m,device=d v{a\=1}=4`),
      ['d/m.v{a=1} 3', String.raw`d/m.v\{a=1} 4`],
    ],
    ['influxdb: a tag twice in a line', () => readLines('m,a=1,a=2 v=1'), ['refused malformed']],
    ['influxdb: a field twice in a line', () => readLines('m v=1,w=2,v=3'), ['refused malformed']],
    [
      'a field twice in a line, once with an escape',
      () => readLines('m v"=1\nm v\\"=2\nm v"=1,v\\"=2'),
      ['m/m.v" 1', 'm/m.v" 2', 'refused malformed'],
    ],
    [
      'a field twice in a line, in another order',
      () => readLines('m v=1,w=2\nm w=1,w=3'),
      ['m/m.v 1', 'm/m.w 2', 'refused malformed'],
    ],
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
