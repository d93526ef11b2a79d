import { describe, expect, test } from '@jest/globals';
import { encode } from 'cborg';
import fc from 'fast-check';
import type { DeadLetter } from '../../../../../web/features/dead-letters/api.ts';
import { readCbor } from '../../../../../web/features/dead-letters/cbor.ts';
import { elementOf } from '../../../../../web/features/dead-letters/codes.tsx';
import { readPayload } from '../../../../../web/features/dead-letters/dead-letter.tsx';
import { obstacleOf } from '../../../../../web/features/dead-letters/replay.tsx';
import {
  bytesIn,
  dumpOf,
  elementsOf,
  escapeInvisible,
  escapeLine,
  previewOf,
} from '../../../../../web/features/dead-letters/text.ts';

const deadLetterOf = (payload: string | Buffer, more: Partial<DeadLetter> = {}) => ({
  id: 'i',
  ts: '2026-11-21T00:00:00.000Z',
  device: 'd',
  topic: 't',
  codes: { malformed: 1 },
  refused: [],
  content_type: null,
  size: Buffer.byteLength(payload),
  payload_base64: Buffer.from(payload).toString('base64'),
  ...more,
});

describe('JSON', () => {
  test('Payload as JSON: array: split into its elements; large numbers and repeated members stay unchanged', () => {
    expect(elementsOf('[{"a":1,"b":[1,2]},{} , [],"x,]",12345678901234567890,{"a":1,"a":2}]')).toEqual([
      '{"a": 1, "b": [1, 2]}',
      '{}',
      '[]',
      '"x,]"',
      '12345678901234567890',
      '{"a": 1, "a": 2}',
    ]);
    expect(elementsOf('[]')).toEqual([]);
    expect(elementsOf(' {"a":"\\"}"} ')).toEqual(['{"a": "\\"}"}']);
  });

  test('Payload as JSON: any array is formatted: the formatted elements parse to the original values', () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue(), { maxLength: 5 }),
        fc.constantFrom(undefined, 2),
        (value, space) => {
          const text = JSON.stringify(value, null, space);
          expect(`[${elementsOf(text).join(',')}]`.replaceAll(/\s+/g, ' ').length).toBeGreaterThan(1);
          expect(JSON.parse(`[${elementsOf(text).join(',')}]`)).toEqual(JSON.parse(text));
        },
      ),
    );
  });

  test('Payload as JSON: element longer than a line: formatted with one member on each line', () => {
    const long = JSON.stringify({ a: 'x'.repeat(100), b: { c: [1], d: {} } });
    expect(elementsOf(long)).toEqual([JSON.stringify(JSON.parse(long), null, 2)]);
  });
});

describe('CBOR', () => {
  test('Payload as CBOR: SenML integer labels: shown as their SenML names', () => {
    const record = (members: [number, unknown][]) => new Map(members);
    const pack = [
      record([
        [-2, 'k/'],
        [0, 't'],
        [2, 1.5],
      ]),
      record([
        [4, true],
        [6, -3],
      ]),
    ];
    const members = readCbor(encode(pack)).map((text) => JSON.parse(text));
    expect(members).toEqual([
      { bn: 'k/', n: 't', v: 1.5 },
      { vb: true, t: -3 },
    ]);
  });

  test('Payload as CBOR: any value encoded by the library cborg: decoded to the same value', () => {
    const anything = fc.anything({
      values: [
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.string({ unit: 'grapheme' }),
        fc.boolean(),
        fc.constant(null),
        fc.integer(),
      ],
      withNullPrototype: false,
      key: fc.string({ unit: 'grapheme', minLength: 1 }).filter((key) => !/^-?\d+$/.test(key)),
    });
    fc.assert(
      fc.property(fc.array(anything), (value) => {
        expect(JSON.parse(`[${readCbor(encode(value)).join(',')}]`)).toEqual(
          JSON.parse(JSON.stringify(value)),
        );
      }),
    );
  });

  test.each([
    ['9f01ff', ['1']],
    ['bf0102ff', ['{"u": 2}']],
    ['5f4101420203ff', ["h'010203'"]],
    ['7f6161626263ff', ['"abc"']],
    ['f97c00', ['Infinity']],
    ['f93e00', ['1.5']],
    ['fb7ff8000000000000', ['NaN']],
    ['c11a514b67b0', ['1(1363896240)']],
    ['1bffffffffffffffff', ['18446744073709551615']],
    ['3bffffffffffffffff', ['-18446744073709551616']],
    ['f7', ['undefined']],
  ])('Payload as CBOR: bytes %s: decoded to JSON or CBOR notation', (hex, elements) =>
    expect(readCbor(Buffer.from(hex, 'hex'))).toEqual(elements),
  );

  test.each([
    '',
    '82',
    '8201',
    '6261',
    '1c',
    'ff',
    '0101',
    '81'.repeat(70),
    '9bffffffffffffffff01',
    '5bffffffffffffffff',
  ])('Payload as CBOR: invalid bytes %s: decoding throws an error', (hex) =>
    expect(() => readCbor(Buffer.from(hex, 'hex'))).toThrow(),
  );
});

describe('Invisible characters', () => {
  test('Invisible characters: text with control and zero-width characters: these are escaped as in JSON', () => {
    expect(escapeInvisible('a\u0000\u0007\t\u202eb\u200b\ufeff\u0085\nc')).toBe(
      'a\\u0000\\u0007\\u0009\\u202eb\\u200b\\ufeff\\u0085\nc',
    );
    expect(escapeInvisible('ä 漢 😀 é')).toBe('ä 漢 😀 é');
    expect(escapeInvisible('\ud83d')).toBe('\\ud83d');
    expect(escapeLine('a\nb')).toBe('a\\nb');
  });
});

describe('Payload', () => {
  test('Payload of a dead letter: valid JSON: elements and text of the payload are shown', () => {
    expect(readPayload(deadLetterOf('[{"a":1},{"b":2}]'))).toMatchObject({
      format: 'JSON',
      elements: ['{"a": 1}', '{"b": 2}'],
      text: '[{"a":1},{"b":2}]',
      obstacle: '',
    });
  });

  test('Payload of a dead letter: invalid JSON: the text and the parse error are shown', () => {
    const { elements, text, obstacle } = readPayload(deadLetterOf('{"value": NaN}'));
    expect([elements, text]).toEqual([null, '{"value": NaN}']);
    expect(obstacle).toMatch(/^It is no JSON: .*N/);
  });

  test('Payload of a dead letter: CBOR: recognized by its first byte or its content type', () => {
    expect(readPayload(deadLetterOf(Buffer.from([0x81, 0x01])))).toMatchObject({
      format: 'CBOR',
      elements: ['1'],
    });
    const labeled = deadLetterOf(Buffer.from([0x01]), { content_type: 'application/cbor' });
    expect(readPayload(labeled)).toMatchObject({ format: 'CBOR', elements: ['1'] });
  });

  test('Payload of a dead letter: birth message with an invalid sensor: the list of elements holds the sensors of the message', () => {
    const birth = '{"name":"Pump","sensors":[{"sensor_id":"a"},{"sensor_id":"b","unit":""}]}';
    const refused = [{ index: 1, code: 'bad_id', path: 'sensors[1].unit', rule: 'must not be empty' }];
    expect(readPayload(deadLetterOf(birth, { refused }))).toMatchObject({
      base: 'sensors',
      elements: ['{"sensor_id": "a"}', '{"sensor_id": "b", "unit": ""}'],
    });
    expect(readPayload(deadLetterOf(birth))).toMatchObject({ base: '', elements: [expect.any(String)] });
  });

  test.each([
    ['iot/v1/a/measurements', 'measurement'],
    ['iot/v1/a/birth', 'sensor'],
    ['spBv1.0/g/DDATA/n/d', 'metric'],
  ])('Payload of a dead letter: topic %s: an element of the payload is called %s', (topic, element) =>
    expect(elementOf(topic)).toBe(element),
  );

  test('Payload of a dead letter: neither text nor CBOR: only the bytes of the payload are shown', () => {
    const { elements, text, bytes } = readPayload(deadLetterOf(Buffer.from([0x00, 0xff])));
    expect([elements, text, [...bytes]]).toEqual([null, null, [0, 255]]);
  });

  test('Payload of a dead letter: hex dump: each line holds offset, bytes and text', () => {
    expect(dumpOf(Buffer.from('Hello\n<b>'), 8)).toBe(
      '0000  48 65 6c 6c 6f 0a 3c 62  Hello·<b\n0008  3e                       >',
    );
    expect(dumpOf(new Uint8Array(), 16)).toBe('');
  });

  test('Payload of a dead letter: only a part of the payload was kept: replay is refused with the reason', () => {
    expect(obstacleOf(deadLetterOf('{}'), 2)).toBe('');
    expect(obstacleOf(deadLetterOf('{}', { size: 70_000 }), 65_536)).toContain(
      'of its 68 KiB only the first 64 KiB were kept',
    );
    expect(obstacleOf(deadLetterOf('', { size: null, payload_base64: null }), 0)).toContain(
      'only the counts were kept',
    );
  });
});

describe('Preview', () => {
  const previewed = (payload: string | Buffer) => previewOf(Buffer.from(payload).toString('base64'));

  test.each([
    ['{"a":1}', '{"a":1}'],
    ['a\nb\u202e', 'a\\nb\\u202e'],
    ['', ''],
    ['x'.repeat(120), 'x'.repeat(120)],
    ['x'.repeat(121), `${'x'.repeat(120)}…`],
    ['😀'.repeat(10_000), `${'😀'.repeat(120)}…`],
    [`a${'ä'.repeat(40_000)}`, `a${'ä'.repeat(119)}…`],
  ])('Payload preview of %j: shown on one line, cut at 120 characters', (payload, expected) =>
    expect(previewed(payload)).toBe(expected),
  );

  test('Payload preview: payload that is not UTF-8: the first bytes are shown in hex', () => {
    expect(previewed(Buffer.from([0x00, 0xff, 0x13]))).toBe('00 ff 13');
    expect(previewed(Buffer.alloc(25, 0xff))).toBe(`${'ff '.repeat(24)}…`);
  });

  test('Payload preview: any text: the preview contains no line break and no invisible character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(previewed(text)).toBe(escapeInvisible(previewed(text)).replaceAll('\n', ''));
      }),
    );
  });

  test('Payload size: computed from the length of the base64 text: equals the number of payload bytes', () => {
    for (const size of [0, 1, 2, 3, 4, 255, 256]) {
      expect(bytesIn(Buffer.alloc(size).toString('base64'))).toBe(size);
    }
  });
});
