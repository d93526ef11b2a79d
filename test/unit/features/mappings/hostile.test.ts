import { expect, test } from '@jest/globals';
import { Mappings, parseMappings } from '../../../../api/features/mappings/mappings.ts';
import { readSamples } from '../../../support/features/mappings.ts';

const mappings = new Mappings(
  parseMappings(
    `mappings:
  - { name: all, topic: 'all/{device}', values: [{ all: '' }] }
  - { name: one, topic: 'one/{device}', values: [{ pointer: /__proto__/x, sensor: x }, { pointer: /constructor/name, sensor: y }, { pointer: /a, sensor: a }] }
  - { name: globs, topic: 'globs/{device}', values: [{ all: '', ignore: ['*a*a*b'] }], sensors: { '*a*a*c': { unit: V } } }
  - { name: each, topic: 'each/{device}', each: /list, values: [{ pointer: /v, sensor: { pointer: /n } }] }
  - { name: bare, topic: 'bare/{device}/{sensor}', words: { 'ON': 1 }, values: [{ pointer: '' }] }
  - name: inherited
    topic: 'inherited/{device}'
    match: [{ pointer: /text, text: ['is {constructor}'] }]
    values: [{ pointer: /v, sensor: '{constructor}' }]
  - name: named
    topic: named
    device: { pointer: /id }
    match: [{ pointer: /text, text: ['*{part}*y'] }]
    time: { pointer: /t, unit: s }
    values: [{ pointer: /v, sensor: v }]
`,
    'mappings.yaml',
  ),
);

const read = (topic: string, payload: string | Buffer) => readSamples(mappings, topic, Buffer.from(payload));

const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

test('Hostile payload on a mapped topic: values nested over eight levels deep: refused', () => {
  expect(read('all/d', nested(8))).toMatchObject({
    values: { 'a.a.a.a.a.a.a.a': [[expect.any(Number), 1]] },
  });
  for (const payload of [nested(9), nested(50_000), `${'['.repeat(50_000)}${']'.repeat(50_000)}`])
    expect(read('all/d', payload)).toMatchObject({ values: {}, refused: [{ code: 'not_numeric' }] });
  expect(() => read('all/d', '['.repeat(100_000))).toThrow(expect.objectContaining({ code: 'malformed' }));
});

test('Hostile payload on a mapped topic: keys __proto__ and constructor: stored as sensors, no prototype is polluted', () => {
  const payload = '{"__proto__":{"x":1,"isAdmin":1},"constructor":{"prototype":{"y":2}},"toString":3}';
  expect(read('all/d', payload).values).toEqual(
    Object.fromEntries([
      ['__proto__.x', [[expect.any(Number), 1]]],
      ['__proto__.isAdmin', [[expect.any(Number), 1]]],
      ['constructor.prototype.y', [[expect.any(Number), 2]]],
      ['toString', [[expect.any(Number), 3]]],
    ]),
  );
  expect(({} as never)['isAdmin']).toBeUndefined();
  expect(read('one/d', '{"a":1}')).toMatchObject({ values: { a: [[expect.any(Number), 1]] }, refused: [] });
  expect(read('one/d', '{"a":"toString"}').refused).toMatchObject([{ code: 'not_numeric', path: 'a' }]);
});

test('Hostile payload on a mapped topic: template {constructor} without a value in the message: refused with bad_id', () => {
  expect(read('inherited/d', '{"text":"is s","v":1}').values).toEqual({ s: [[expect.any(Number), 1]] });
  expect(read('inherited/d', '{"v":1}')).toMatchObject({ values: {}, refused: [{ code: 'bad_id' }] });
});

test.each([
  [
    'bare/d/s',
    '{"temperature":1,"b":2}',
    "pointer: '/temperature' for one of its values, or all: '' for all",
  ],
  ['bare/d/s', `{"${'x'.repeat(500)}":1}`, "pointer: '/temperature' for"],
  ['one/d', '{"a":{"b/c":1}}', "pointer: '/a/b~1c' for one of its values, or all: '/a' for all"],
])(
  'Message on mapped topic %s: an object instead of a number: the refusal suggests a pointer',
  (topic, payload, remedy) => {
    expect(read(topic, payload)).toMatchObject({
      values: {},
      refused: [{ code: 'not_numeric', rule: expect.stringContaining(remedy) }],
    });
  },
);

test('Hostile payload on a mapped topic: 10,001 values: refused with too_large', () => {
  const wide = JSON.stringify(
    Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`s${index}`, 1])),
  );
  const long = JSON.stringify({ list: Array(10_001).fill({ n: 'a', v: 1 }) });
  const fits = JSON.stringify({ list: Array(10_000).fill({ n: 'a', v: 1 }) });
  for (const [topic, payload] of [
    ['all/d', wide],
    ['each/d', long],
  ]) {
    expect(() => read(String(topic), String(payload))).toThrow(
      expect.objectContaining({ code: 'too_large' }),
    );
  }
  expect(read('each/d', fits).values['a']).toHaveLength(10_000);
});

test.each([
  ['each/d', '{"list":7}', 'malformed'],
  ['each/d', '{}', 'malformed'],
  ['one/d', '{"b":1}', 'malformed'],
  ['one/d', '7', 'malformed'],
  ['one/d', 'x'.repeat(2000), 'malformed'],
  ['named', '{"v":1}', 'bad_id'],
  ['named', '{"id":{},"v":1}', 'bad_id'],
  ['named', '{"id":null,"v":1}', 'bad_id'],
])('Hostile payload on mapped topic %s: payload %s: the message is refused: %s', (topic, payload, code) => {
  expect(() => read(topic, payload)).toThrow(expect.objectContaining({ code }));
});

test.each([
  ['bare/d/s', 'NaN', 'not_numeric', ''],
  ['bare/d/s', '"0x10"', 'not_numeric', ''],
  ['bare/d/s', '0012', 'not_numeric', ''],
  ['bare/d/s', '[1]', 'not_numeric', ''],
  ['bare/d/s', 'on', 'not_numeric', ''],
  ['bare/d/s', '1e999', 'not_finite', ''],
  ['each/d', '{"list":[{"v":1}]}', 'bad_id', 'list[0].v'],
  ['named', '{"id":"d","v":1,"t":{}}', 'bad_timestamp', 't'],
  ['named', '{"id":"d","v":1,"t":"soon"}', 'bad_timestamp', 't'],
  ['named', '{"id":"d","v":1,"t":1e300}', 'in_future', 't'],
  ['named', '{"id":"d","v":1,"t":1}', 'too_old', 't'],
])('Hostile payload on mapped topic %s: payload %s: value refused: %s', (topic, payload, code, path) => {
  expect(read(topic, payload)).toMatchObject({ values: {}, refused: [{ index: 0, code, path }] });
});

test('Hostile payload on a mapped topic: texts and names of 400,000 or more characters: patterns with wildcards do not match', () => {
  const text = 'x'.repeat(400_000);
  const { values, refused } = read('globs/d', JSON.stringify({ ['a'.repeat(900_000)]: 1, aab: 2, b: 3 }));
  expect(Object.keys(values).map((name) => name.length)).toEqual([900_000, 1]);
  expect(refused).toEqual([]);
  expect(read('named', JSON.stringify({ id: 'd', v: 1, text }))).toMatchObject({ device: 'd' });
});

test.each(['iot/live/all', 'iot/v1/all/x', '$SYS/all', 'all', 'all/', 'all/d/e', 'ALL/d'])(
  'Mapping: topic %s: does not match',
  (topic) => expect(mappings.match(topic)).toBeNull(),
);
