import { expect, test } from '@jest/globals';
import { encode } from 'cborg';
import fc from 'fast-check';
import { decodePayload } from '../../../../api/features/dead-letters/decoded.ts';

const decoded = (payload: string | Uint8Array, paths: string[] = [], contentType?: string) =>
  decodePayload({
    payload: Buffer.from(payload as string),
    contentType,
    refused: paths.map((path, index) => ({
      index,
      code: 'bad_id' as const,
      path,
      rule: 'must not be empty',
    })),
  });

/** @returns the marked parts of all elements */
const marked = (...given: Parameters<typeof decoded>): string[] =>
  decoded(...given).elements?.flatMap(({ text, marks }) => marks.map((range) => text.slice(...range))) ?? [];

const BIRTH = '{"name": "Pump", "sensors": [{"sensor_id": "a"}, {"sensor_id": "b", "unit": ""}]}';

test('Decoded dead letter: JSON list: each item is an element, and numbers are as they were sent', () => {
  expect(decoded('[{"a":1.0,"b":[1,2]},{} , [],"x,]",12345678901234567890]')).toEqual({
    format: 'JSON',
    text: '[{"a":1.0,"b":[1,2]},{} , [],"x,]",12345678901234567890]',
    elements: ['{"a": 1.0, "b": [1, 2]}', '{}', '[]', '"x,]"', '12345678901234567890'].map((text) => ({
      text,
      marks: [],
    })),
    problem: null,
  });
});

test('Decoded dead letter: any JSON list: the elements parse to the original values', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 5 }), { maxLength: 5 }), (value) => {
      const { elements } = decoded(JSON.stringify(value));
      expect(elements?.map(({ text }) => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('Decoded dead letter: element longer than a line: it has a line for each member', () => {
  const long = { a: 'x'.repeat(100), b: { c: [1], d: {}, e: [] } };
  expect(decoded(JSON.stringify(long)).elements).toEqual([
    { text: JSON.stringify(long, null, 2), marks: [] },
  ]);
});

test.each([
  [
    undefined,
    [
      new Map([
        [-2, 'k/'],
        [0, 't'],
      ] as Array<[number, string]>),
    ],
  ],
  [
    'application/senml+cbor',
    [
      new Map([
        [-2, 'k/'],
        [0, 't'],
      ] as Array<[number, string]>),
    ],
  ],
])('Decoded dead letter: SenML in CBOR, content type %s: labels are the names of SenML', (type, pack) => {
  expect(decoded(encode(pack), ['[0].n'], type)).toMatchObject({
    format: 'CBOR',
    elements: [{ text: '{"n": "t", "bn": "k/"}', marks: [[6, 9]] }],
  });
});

test('Decoded dead letter: CBOR with bytes, large numbers and other values: each has a text', () => {
  const value = [[new Uint8Array([1, 255]), 2n ** 63n, Number.NaN, undefined, null, new Map([['k', 1]])]];
  expect(decoded(encode(value)).elements?.[0]?.text).toBe(
    '[h\'01ff\', 9223372036854775808, NaN, undefined, null, {"k": 1}]',
  );
});

test.each([
  ['{"value": NaN}', '{"value": NaN}', /^It is no JSON: .*N/],
  [Buffer.from([0x00, 0xff]), null, /^It is no text, and no CBOR: /],
  [Buffer.from([0x81, 0x01, 0x02]), null, /^It is no text, and no CBOR: /],
  [
    `${'['.repeat(32_000)}${']'.repeat(32_000)}`,
    expect.any(String),
    /^It is no JSON: it is nested too deep$/,
  ],
])('Decoded dead letter: payload %j: text if it is one, and the reason', (payload, text, problem) =>
  expect(decoded(payload)).toEqual({
    format: null,
    text,
    elements: null,
    problem: expect.stringMatching(problem),
  }),
);

test('Decoded dead letter: payload that was refused for its syntax: the problem does not repeat the reason', () => {
  const refused = (rule: string) => [{ index: -1, code: 'malformed' as const, rule }];
  const problemOf = (rule: string) =>
    decodePayload({ payload: Buffer.from('{'), contentType: undefined, refused: refused(rule) }).problem;
  const [, reason = ''] = /^It is no JSON: (.+)$/.exec(String(problemOf('another'))) ?? [];
  expect(problemOf(reason)).toBe('It is no JSON.');
});

test.each([
  ['[{"value":1},{"value":"hot"}]', ['[1].value'], ['"hot"']],
  [BIRTH, ['sensors[1].unit'], ['""']],
  ['{"name":"Pump"}', ['name'], ['"Pump"']],
  [' [ [ 1 , 2 ] , [ 3 ] ] ', ['[0][1]'], ['2']],
  ['{"b\\"":[true]}', ['b"[0]'], ['true']],
  ['[{"value":1,"at":{"x":2}}]', ['[0].at.y', '[0].sensor_id'], ['{"x": 2}']],
  ['{"value":1}', ['sensor_id'], []],
  [BIRTH, ['sensors[1].unit', 'name', 'sensors[1]'], ['""']],
  [JSON.stringify([{ note: 'x'.repeat(120), value: 'hot' }]), ['[0].value'], ['"hot"']],
])(
  'Decoded dead letter: payload %s, refused %j: marked are %j, or the value around a missing one',
  (payload, paths, expected) => expect(marked(payload, paths)).toEqual(expected),
);

test('Decoded dead letter: birth with a refused sensor: the elements are its sensors', () => {
  expect(decoded(BIRTH, ['sensors[1].unit'])).toMatchObject({
    elements: [{ text: '{"sensor_id": "a"}' }, { text: '{"sensor_id": "b", "unit": ""}' }],
  });
  expect(decoded(BIRTH)).toMatchObject({ elements: [expect.anything()] });
});
