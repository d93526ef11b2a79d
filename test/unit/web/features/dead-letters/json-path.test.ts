import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { elementsOf, findValues, markValues } from '../../../../../web/features/dead-letters/text.ts';

/** @returns the marked parts of the text */
const marked = (json: string, paths: string[]): string[] =>
  markValues(json, paths).flatMap(({ text, isMarked }) => (isMarked ? [text] : []));

const BIRTH = '{"name": "Pump", "sensors": [{"sensor_id": "a"}, {"sensor_id": "b", "unit": ""}]}';

describe('JSON path', () => {
  test.each([
    ['[{"value":1},{"value":"hot"}]', '[1].value', '"hot"'],
    [BIRTH, 'sensors[1].unit', '""'],
    [BIRTH, 'name', '"Pump"'],
    [BIRTH, 'sensors[0]', '{"sensor_id": "a"}'],
    [' [ [ 1 , 2 ] , [ 3 ] ] ', '[0][1]', '2'],
    ['{"a,]}":{"b\\"":[true]}}', 'a,]}.b"[0]', 'true'],
    ['[12345678901234567890]', '[0]', '12345678901234567890'],
  ])('Marked value of a dead letter: payload %s, JSON path %s: marked %s', (json, path, expected) =>
    expect(marked(json, [path])).toEqual([expected]),
  );

  test('Marked value of a dead letter: no value at the JSON path: the enclosing object is marked', () => {
    expect(marked('[{"value":1},{"value":2}]', ['[1].sensor_id'])).toEqual(['{"value":2}']);
    expect(marked(BIRTH, ['sensors[0].unit'])).toEqual(['{"sensor_id": "a"}']);
  });

  test('Marked value of a dead letter: no value at the JSON path, enclosing object is the payload: nothing is marked', () => {
    expect(markValues('{"value":1}', ['sensor_id'])).toEqual([{ text: '{"value":1}', isMarked: false }]);
  });

  test('Marked value of a dead letter: one JSON path lies within another: text unchanged, each part is marked once', () => {
    const pieces = markValues(BIRTH, ['sensors[1].unit', 'name', 'sensors[1]']);
    expect(pieces.map(({ text }) => text).join('')).toBe(BIRTH);
    expect(marked(BIRTH, ['sensors[1].unit', 'name', 'sensors[1]'])).toEqual([
      '"Pump"',
      '{"sensor_id": "b", "unit": ""}',
    ]);
  });

  test('JSON path: any JSON text: the path of each value leads to the position of that value in the text', () => {
    const key = fc.string({ minLength: 1 }).filter((text) => !/[.[\]]/.test(text));
    const { value: values } = fc.letrec((tie: (name: string) => fc.Arbitrary<unknown>) => ({
      value: fc.oneof({ depthSize: 'small' }, fc.integer(), fc.string(), tie('array'), tie('object')),
      array: fc.array(tie('value'), { maxLength: 3 }),
      object: fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
    }));
    fc.assert(
      fc.property(values as fc.Arbitrary<unknown>, fc.constantFrom(undefined, 2), (value, space) => {
        const json = JSON.stringify(value, null, space);
        const all: Map<string, unknown> = new Map();
        collect(value, '', all);
        const found = findValues(json, new Set(all.keys()));
        for (const [path, expected] of all) {
          const span = found.get(path);
          expect(span).toBeDefined();
          expect(JSON.parse(json.slice(span?.begin, span?.end))).toEqual(expected);
        }
      }),
    );
  });

  test('Marked value of a dead letter: long element, formatted on several lines: the value at the JSON path is marked', () => {
    const [element = ''] = elementsOf(JSON.stringify([{ note: 'x'.repeat(120), value: 'hot' }]));
    expect(element).toContain('\n');
    expect(marked(element, ['value'])).toEqual(['"hot"']);
  });
});

function collect(value: unknown, path: string, all: Map<string, unknown>) {
  all.set(path, value);
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) collect(each, `${path}[${index}]`, all);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, each] of Object.entries(value)) {
      collect(each, path === '' ? key : `${path}.${key}`, all);
    }
  }
}
