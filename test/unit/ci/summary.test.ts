import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { type Report, type Result, type Results, summaryOf } from '../../../.ci/summary.ts';

/** @param files failure by file name; undefined: passed */
const resultsOf = (files: Record<string, string | undefined>): Results => ({
  numPassedTests: 5,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: Object.entries(files).map(([name, failure], index) => ({
    name: resolve(name),
    status: failure === undefined ? 'passed' : 'failed',
    message: failure ?? '',
    startTime: 1000,
    endTime: 1000 + (index + 1) * 1000,
    assertionResults:
      failure === undefined
        ? []
        : [{ status: 'failed', fullName: 'Subject: condition', failureMessages: [failure] }],
  })),
});

const reportOf = (report?: Partial<Report>): Report => ({
  title: 'test --seed=1',
  isSuite: true,
  code: 0,
  breaksRules: false,
  output: '',
  results: resultsOf({ 'test/unit/a.test.js': undefined }),
  seconds: 12,
  load: 'load 1 to 2, steal 0 %',
  secondTry: null,
  ...report,
});

const passedAlone = (output: string): Result => ({
  code: 0,
  breaksRules: false,
  output,
  results: resultsOf({}),
});

const summarize = (report: Partial<Report>, known: { file: string }[] = []) =>
  summaryOf([reportOf(report)], { seed: 7, known });

test('CI summary: all tests pass: the summary is green and names the seed, the steps and the slowest file', () => {
  const { text, isGreen } = summarize({});
  expect(isGreen).toBe(true);
  expect(text).toContain('Summary, seed 7');
  expect(text).toContain('    12 s  test --seed=1 (load 1 to 2, steal 0 %)');
  expect(text).toContain('     1.0 s  test/unit/a.test.js');
  expect(text).toContain('5 tests passed, 0 failures, 0 skipped, 0 flaky files');
});

test('CI summary: twelve test files: only the ten slowest files are listed, slowest first', () => {
  const files = Object.fromEntries(
    Array.from({ length: 12 }, (_, index) => [`t${index}.test.js`, undefined]),
  );
  const { text } = summarize({ results: resultsOf(files) });
  const listed = text.split('\n').filter((line) => line.includes(' s  t') && line.endsWith('.test.js'));
  expect(listed).toHaveLength(10);
  expect(listed[0]).toBe('    12.0 s  t11.test.js');
});

test('CI summary: a test fails in both tries: the summary is red, with 40 lines of the message of the second try', () => {
  const message = Array.from({ length: 60 }, (_, index) => `line ${index}`).join('\n');
  const results = resultsOf({ 'test/unit/a.test.js': message });
  const { text, isGreen } = summarize({
    code: 1,
    results: resultsOf({ 'test/unit/a.test.js': 'first message' }),
    secondTry: { code: 1, breaksRules: false, output: '', results },
  });
  expect(isGreen).toBe(false);
  expect(text).toContain('Failed: test/unit/a.test.js: Subject: condition');
  expect(text).toContain('line 39');
  expect(text).not.toContain('line 40');
  expect(text.split('\n').at(-1)).toContain('The checks failed: test/unit/a.test.js');
});

test.each([
  ['missing', [], 'flaky: test/unit/a.test.js (new: add it to .ci/flaky.json)'],
  ['listed', [{ file: 'test/unit/a.test.js' }], 'flaky: test/unit/a.test.js\n'],
])(
  'CI summary: a flaky test file, %s in .ci/flaky.json, passes at the second try: green, with the output of both tries',
  (_, known, line) => {
    const { text, isGreen } = summarize(
      {
        code: 1,
        results: resultsOf({ 'test/unit/a.test.js': 'lost by luck' }),
        secondTry: passedAlone('passed alone'),
      },
      known,
    );
    expect(isGreen).toBe(true);
    expect(text).toContain(line);
    expect(text).toContain('lost by luck');
    expect(text).toContain('passed alone');
  },
);

test('CI summary: a CQL statement breaks a query rule: the summary is red, even if the failed file passes alone', () => {
  const { text, isGreen } = summarize({
    code: 3,
    breaksRules: true,
    output: 'much\nCQL: SELECT without a partition\n',
    results: resultsOf({ 'test/unit/a.test.js': 'lost by luck' }),
    secondTry: passedAlone(''),
  });
  expect(isGreen).toBe(false);
  expect(text).toContain('CQL: SELECT without a partition');
});

test('CI summary: a test suite wrote no results: the summary is red, with the end of the output of the suite', () => {
  const { text, isGreen } = summarize({ code: 1, results: null, output: 'Maven Central did not answer' });
  expect(isGreen).toBe(false);
  expect(text).toContain('Failed: test --seed=1: its tests did not run');
  expect(text).toContain('Maven Central did not answer');
});

test('CI summary: a test file cannot be loaded: the summary is red and names the file', () => {
  const results = resultsOf({ 'test/unit/a.test.js': 'SyntaxError' });
  for (const file of results.testResults) file.assertionResults = [];
  const { text, isGreen } = summarize({ code: 1, results });
  expect(isGreen).toBe(false);
  expect(text).toContain('test/unit/a.test.js: its tests did not run');
  expect(text).toContain('SyntaxError');
});

test('CI summary: a command other than a test suite fails: the summary is red, with the end of the output of the command', () => {
  const { text, isGreen } = summarize({ isSuite: false, code: 2, results: null, output: 'lint: 1 problem' });
  expect(isGreen).toBe(false);
  expect(text).toContain('Failed: test --seed=1: exit code 2');
  expect(text).toContain('lint: 1 problem');
});

test('CI summary: a test is skipped: the summary is red', () => {
  const { text, isGreen } = summarize({ results: { ...resultsOf({}), numPendingTests: 1 } });
  expect(isGreen).toBe(false);
  expect(text).toContain('1 skipped');
});
