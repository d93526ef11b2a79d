import { expect, test } from '@jest/globals';
import { durationOf } from '../../../../api/features/prometheus/durations.ts';
import { parseExpression, parseSelector } from '../../../../api/features/prometheus/expression.ts';
import { PatternBudget } from '../../../../api/features/prometheus/matchers.ts';
import { longestTurn, MAX_TURN_MS } from '../../../support/event-loop.ts';
import { PROMQL_INPUTS } from '../../../support/hostile-inputs.ts';

test.each([
  ['x', { aggregate: 'last', windowMs: null, keepsName: true, group: null }],
  ['(x)', { aggregate: 'last', windowMs: null }],
  ['max_over_time(x[1h30m])', { aggregate: 'max', windowMs: 5_400_000, keepsName: false }],
  ['last_over_time(x[90])', { aggregate: 'last', windowMs: 90_000, keepsName: true }],
  ['sum(x)', { group: { operator: 'sum', labels: [] } }],
  [
    'AVG by (site, type) (min_over_time(x[1w]))',
    { aggregate: 'min', windowMs: 604_800_000, group: { operator: 'avg', labels: ['site', 'type'] } },
  ],
  ['# a comment\nmax_over_time(x[5m] # another\n)', { aggregate: 'max', windowMs: 300_000 }],
  ['count(x) by (site)', { group: { operator: 'count', labels: ['site'] } }],
])('PromQL parser: %s: parsed', (text, expected) => {
  expect(parseExpression(text)).toMatchObject(expected);
});

test.each([
  '',
  ' ',
  'x{',
  '1',
  '"text"',
  '-x',
  'x > 3',
  'x + x',
  'x offset 5m',
  'x @ 5',
  'x[5m]',
  'x[5m:1m]',
  'rate(x[5m])',
  'max_over_time(x)',
  'max_over_time(x[5m:1m])',
  'max_over_time(x[5m] offset 1m)',
  'max_over_time(x[0s])',
  'sum without (a) (x)',
  'sum(sum(x))',
  'topk(3, x)',
  'quantile_over_time(0.5, x[5m])',
  'time()',
  '{"x"}',
  '{"a b"="c"}',
  'x{a=~"("}',
  'x{a="\\UFFFFFFFF"}',
  'sum(x, x)',
  'x y',
  'x{a=~"(.?){1000}"}',
  'x{a="\\q"}',
  'sum by ("site") (x)',
  'x'.repeat(20_000),
])('PromQL parser: %j: refused with bad_parameter', (text) => {
  expect(() => parseExpression(text)).toThrow(expect.objectContaining({ code: 'bad_parameter' }));
});

test.each([
  ['{a="b"}', 'b', true],
  ['{a!="b"}', 'b', false],
  ['{a=~"b.*"}', 'b\nc', true],
  ['{a=~"b"}', 'abc', false],
  ['{a!~"b|c"}', 'c', false],
  ['{a="\\"\\\\\\n\\x41\\u00b5\\U0001f600"}', '"\\\nAµ😀', true],
  ["{a='\"'}", '"', true],
  ['{a=`\\n`}', '\\n', true],
  ['{a=""}', '', true],
  ['{a=~"(b|c d)"}', 'c d', true],
  ['{a=~"press\\\\.1|press\\\\.2"}', 'press.2', true],
  ['{a=~"press\\\\.1|press\\\\.2"}', 'press-2', false],
  ['{a="\\101"}', 'A', true],
  [`{a=~"${'long|'.repeat(500)}b"}`, 'b', true],
])('PromQL matcher %s: label value %j: accepted is %j', (text, value, expected) => {
  expect(parseSelector(text)[0]?.accepts(value)).toBe(expected);
});

test('PromQL selector: a function or an aggregation: refused', () => {
  for (const text of ['sum(x)', 'max_over_time(x[5m])'])
    expect(() => parseSelector(text)).toThrow('must be a selector');
});

test.each([
  '',
  '5',
  '1h30m',
  '0.5',
  '7ms',
  'none',
  '5 m',
  '1e999',
  '-1',
  '1ms1h',
  '0x10',
  '1'.repeat(100_000),
])('PromQL duration: %j: ms, or refused', (text) => {
  const expected = { 5: 5000, '1h30m': 5_400_000, 0.5: 500, '7ms': 7 }[text];
  if (expected) expect(durationOf(text)).toBe(expected);
  else expect(() => durationOf(text)).toThrow('not a duration');
});

test.each(PROMQL_INPUTS)(
  'PromQL parser: %s: refused with bad_parameter, and no turn of the event loop over 100 ms',
  async (_, text) => {
    expect(() => parseExpression(text)).toThrow(expect.objectContaining({ code: 'bad_parameter' }));
    expect(await longestTurn(() => parseExpression(text))).toBeLessThan(MAX_TURN_MS);
  },
);

test('PromQL parser: selectors of one request: their patterns share one limit', () => {
  const budget = new PatternBudget();
  const parse = () => parseSelector(`x{device=~"${'a.'.repeat(90)}"}`, budget);
  parse();
  expect(parse).toThrow(expect.objectContaining({ code: 'bad_parameter' }));
});
