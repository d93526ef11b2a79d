import { expect, test } from '@jest/globals';
import { longestTurn, MAX_TURN_MS } from '../../../support/event-loop.ts';
import { readLines as read } from '../../../support/features/line-protocol/line-points.ts';

/** The one point of a text. */
function one(text: string) {
  const { points, bad } = read(text);
  expect([points.length, bad]).toEqual([1, []]);
  return points[0] as (typeof points)[0];
}

test.each([
  ['42', 42],
  ['-42', -42],
  ['42.2', 42.2],
  ['42.', 42],
  ['.42', 0.42],
  ['-.42', -0.42],
  ['00.42', 0.42],
  ['0.1', 0.1],
  ['-0', -0],
  ['123456789012345678', 123456789012345680],
  ['1.7976931348623157e308', Number.MAX_VALUE],
  ['42e0', 42],
  ['-42e0', -42],
  ['42e-1', 4.2],
  ['42E+2', 4200],
  ['.5e3', 500],
  ['42i', 42],
  ['-42i', -42],
  ['0i', 0],
  ['-0i', 0],
  ['9223372036854775807i', 2 ** 63],
  ['-9223372036854775808i', -(2 ** 63)],
  ['42u', 42],
  ['18446744073709551615u', 2 ** 64],
  ...['t', 'T', 'true', 'True', 'TRUE'].map((word) => [word, 1] as const),
  ...['f', 'F', 'false', 'False', 'FALSE'].map((word) => [word, 0] as const),
])('Line protocol: field value %s: read as a number', (text, value) => {
  expect(one(`cpu value=${text}`).fields).toEqual([['value', value]]);
});

test.each([
  'howdy',
  '',
  '.',
  '-',
  '42E',
  '42e+',
  '1e',
  '4x',
  '0x10',
  'NaN',
  'inf',
  '+1',
  '1_0',
  '01i',
  '-1u',
  'i',
  '-i',
  '1.5i',
  'tru',
  'tRUE',
  'f1',
  'constructor',
  '"open',
  '"a"b',
  "'a'",
  '1,',
  '1,=2',
  '1,b',
  '1,b=',
])('Line protocol: field value %s: only its line is refused', (text) => {
  const { points, bad } = read(`ok value=1\ncpu value=${text}\nok value=2`);
  expect([points.map(({ line }) => line), bad.map(([line]) => line)]).toEqual([[1, 3], [2]]);
});

test.each(['9223372036854775808i', '-9223372036854775809i', '18446744073709551616u', `${'9'.repeat(400)}i`])(
  'Line protocol: integer %s beyond 64 bits: refused',
  (text) => expect(read(`cpu value=${text}`).bad).toEqual([[1, 'must have integers of 64 bits']]),
);

test.each([
  [String.raw`c\pu value=1`, String.raw`c\pu`],
  [String.raw`cpu\\ value=1`, String.raw`cpu\\`],
  [String.raw`cp\\u value=1`, String.raw`cp\\u`],
  [String.raw`cpu\ abc value=1`, 'cpu abc'],
  [String.raw`cpu\,abc value=1`, 'cpu,abc'],
  ['c=pu value=1', 'c=pu'],
  ['"cpu" value=1', '"cpu"'],
  ['☺ value=1', '☺'],
])('Line protocol: line %s: measurement name %s is read', (text, measurement) => {
  expect(one(text)).toMatchObject({ measurement, tags: [], fields: [['value', 1]] });
});

test.each([
  ['cpu,host=localhost v=1', [['host', 'localhost']]],
  [
    'cpu,host=localhost,cpu=cpu0 v=1',
    [
      ['host', 'localhost'],
      ['cpu', 'cpu0'],
    ],
  ],
  [String.raw`cpu,h\ ost=a v=1`, [['h ost', 'a']]],
  [String.raw`cpu,h\,ost=a v=1`, [['h,ost', 'a']]],
  [String.raw`cpu,h\=ost=a v=1`, [['h=ost', 'a']]],
  [String.raw`cpu,host=two\ words v=1`, [['host', 'two words']]],
  [String.raw`cpu,host=two\\ words v=1`, [['host', String.raw`two\ words`]]],
  [String.raw`cpu,host=two\\\ words v=1`, [['host', String.raw`two\\ words`]]],
  ['cpu,ort=Zürich v=1', [['ort', 'Zürich']]],
])('Line protocol: line %s: tags are read', (text, tags) => expect(one(text).tags).toEqual(tags));

test.each([
  ['cpu ☺=1', '☺'],
  [String.raw`cpu a\ b=1`, 'a b'],
  [String.raw`cpu a\,b=1`, 'a,b'],
  [String.raw`cpu a\=b=1`, 'a=b'],
  ['cpu "a"=1', '"a"'],
])('Line protocol: %s: field is read', (text, field) => expect(one(text).fields).toEqual([[field, 1]]));

test.each([
  ['cpu', 'must have a space and then a field'],
  [',', 'must begin with the name'],
  ['=,', 'must have a tag'],
  ['cpu,', 'must have a tag'],
  ['cpu, v=1', 'must have a tag'],
  ['cpu,xyzzy v=1', 'must have a tag'],
  ['cpu,xyzzy= v=1', 'must have a tag'],
  ['cpu,h ost=a v=1', 'must have a tag'],
  ['cpu,h,ost=a v=1', 'must have a tag'],
  ['cpu,h=ost=a v=1', 'must have a tag'],
  ['cpu,x=y', 'must have a space and then a field'],
  ['cpu,x=y ', 'must have a space and then a field'],
  ['cpu v', 'must have a space and then a field'],
  ['cpu =1', 'must have a space and then a field'],
  ['cpu v=1 v=2', 'must end after the fields'],
  ['cpu v=1 12345678901234567890', 'must end after the fields'],
  ['cpu v=1 "1"', 'must end after the fields'],
  ['cpu v=1 -', 'must end after the fields'],
  ['cpu v=1 1.5', 'must end after the fields'],
  ['cpu v=1 5 6', 'must end after the fields'],
  ['cpu v=1\rcpu v=2', 'must have a value'],
  ['cp\\', 'must have a space and then a field'],
  ['cpu,a=\\', 'must have a tag'],
  ['cpu a\\', 'must have a space and then a field'],
])('Line protocol: line %j: only this line is refused, with the broken rule', (text, rule) => {
  expect(read(text).bad).toEqual([[1, expect.stringContaining(rule)]]);
  expect(read(`ok v=1\n${text}\nok v=2\n`)).toMatchObject({
    points: [{ line: 1 }, { line: 3 }],
    bad: [[2, expect.anything()]],
  });
});

test.each([
  ['', []],
  ['cpu v=1', [1]],
  ['cpu v=1\n', [1]],
  ['\ncpu v=1', [2]],
  ['cpu v=1\n\n\n\ncpu v=2', [1, 5]],
  ['   cpu   v=1  15  \n\n cpu v=2', [1, 3]],
  ['\tcpu\tv=1\t15\t\n\v\f', [1]],
  ['cpu v=1\r\ncpu v=2\r\n', [1, 2]],
  ['# a comment', []],
  ['  # a comment\ncpu v=1\n# another\ncpu v=2\n#', [2, 4]],
])('Line protocol: text %j: line numbers of the points count from 1', (text, lines) => {
  const { points, bad } = read(text);
  expect([points.map(({ line }) => line), bad]).toEqual([lines, []]);
});

test.each([
  ['cpu v=1', ''],
  ['cpu v=1 0', '0'],
  ['cpu v=1 -1', '-1'],
  ['cpu v=1 1516241192000000000', '1516241192000000000'],
])('Line protocol: line %s: timestamp is read', (text, time) => expect(one(text).time).toBe(time));

test('Line protocol: more series and field names than the caches hold: all points are read', () => {
  const series = Array.from({ length: 11_000 }, (_, at) => `m${at} v=${at}`);
  const fields = Array.from({ length: 1500 }, (_, at) => `f${at}=${at}`).join();
  const { points, bad } = read([...series, ...series, `wide ${fields}`, `wide ${fields}`].join('\n'));
  expect([points.length, bad]).toEqual([22_002, []]);
  expect(points.at(-1)?.fields.at(-1)).toEqual(['f1499', 1499]);
  expect(points[21_999]).toMatchObject({ measurement: 'm10999', fields: [['v', 10_999]] });
});

test('Line protocol: a million characters without a valid line: no point is read', () => {
  for (const text of ['a\n', 'a,b=c\n', '\\\\', 'a"', '=', ',a=b', 'a v=1,']) {
    const { points } = read(text.repeat(1_000_000 / text.length));
    expect(points).toEqual([]);
  }
});

test.each([
  ['90,000 tags', `m${',t=\\,\\ '.repeat(90_000)} f=1 1`],
  ['30,000 fields', `m,device=d ${Array.from({ length: 30_000 }, (_, i) => `f${i}=1`).join()} 1`],
])('Line protocol: a line of %s: no turn of the event loop over 100 ms', async (_, text) => {
  expect(await longestTurn(() => read(text))).toBeLessThan(MAX_TURN_MS);
});
