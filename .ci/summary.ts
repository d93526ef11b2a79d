/** Summarizes the results of the checks for a person who sees only the end of the output. */
import { relative } from 'node:path';

/** The form of jest's `--json` output. */
export interface Results {
  numPassedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: TestFile[];
}

interface TestFile {
  name: string;
  status: string;
  message: string;
  /** epoch ms */
  startTime: number;
  /** epoch ms */
  endTime: number;
  assertionResults: { status: string; fullName: string; failureMessages: string[] | null }[];
}

/** `output` is the end of the output. `results` is null if the command runs no tests, or did not start. */
export type Result = { code: number; breaksRules: boolean; output: string; results: Results | null };

/** `secondTry` contains only the files that failed. */
export type Report = Result & {
  title: string;
  isSuite: boolean;
  seconds: number;
  load: string;
  secondTry: Result | null;
};

const SLOWEST = 10;

const MESSAGE_LINES = 40;

const COLORS = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m`, 'g');

/**
 * Reads no file and never throws, whatever the reports contain.
 * @param run `known`: the test files that flaky.json lists
 * @returns `isGreen`: all checks passed; a flaky file does not count as a failure
 */
export function summaryOf(
  reports: Report[],
  { seed, known }: { seed: number; known: { file: string }[] },
): { text: string; isGreen: boolean } {
  const failures = reports.flatMap(failuresOf);
  const flaky = reports.flatMap(flakyFiles);
  const files = reports.flatMap(({ results }) => results?.testResults ?? []);
  const count = (field: 'numPassedTests' | 'numPendingTests' | 'numTodoTests') =>
    reports.reduce((sum, { results }) => sum + (results?.[field] ?? 0), 0);
  const skipped = count('numPendingTests') + count('numTodoTests');
  const isGreen = failures.length === 0 && skipped === 0;
  const lines = [
    `Summary, seed ${seed}`,
    ...reports.map(({ title, seconds, load }) => `${seconds.toFixed(0).padStart(6)} s  ${title} (${load})`),
    `${reports
      .reduce((sum, { seconds }) => sum + seconds, 0)
      .toFixed(0)
      .padStart(6)} s  in all`,
    'Slowest test files:',
    ...slowest(files).map(({ path, seconds }) => `${seconds.toFixed(1).padStart(8)} s  ${path}`),
    ...flaky.flatMap(({ path, first, second }) => [
      `flaky: ${path}${known.some(({ file }) => file === path) ? '' : ' (new: add it to .ci/flaky.json)'}`,
      ...indent(`first try:\n${first}\nsecond try, alone:\n${second}`),
    ]),
    ...failures.flatMap(({ title, detail }) => [`Failed: ${title}`, ...indent(detail)]),
    `${count('numPassedTests')} tests passed, ${failures.length} failures, ${skipped} skipped, ${flaky.length} flaky files`,
    isGreen
      ? 'The checks passed.'
      : `The checks failed: ${failures.map(({ title }) => title).join('; ') || 'a test was skipped'}`,
  ];
  return { text: lines.join('\n'), isGreen };
}

function failuresOf({ title, isSuite, secondTry, ...first }: Report): { title: string; detail: string }[] {
  const { code, output, results } = first;
  if (code === 0) return [];
  const broken = [first, secondTry].find((each) => each?.breaksRules);
  const rules = broken
    ? [
        {
          title: `${title}: query rules`,
          detail: broken.output
            .split('\n')
            .filter((line) => line.startsWith('CQL: '))
            .join('\n'),
        },
      ]
    : [];
  if (secondTry?.code === 0) return rules;
  const last = secondTry?.results ? secondTry : { output, results };
  const tests = (last.results?.testResults ?? [])
    .filter(({ status }) => status === 'failed')
    .flatMap(failedTests);
  if (tests.length > 0) return [...rules, ...tests];
  if (rules.length > 0) return rules;
  const problem = isSuite && !results ? ': its tests did not run' : `: exit code ${code}`;
  return [{ title: title + problem, detail: tail(output) }];
}

function failedTests({ name, message, assertionResults }: TestFile): { title: string; detail: string }[] {
  const path = relative('', name);
  const failed = assertionResults.filter(({ status }) => status === 'failed');
  if (failed.length === 0) return [{ title: `${path}: its tests did not run`, detail: head(message) }];
  return failed.map(({ fullName, failureMessages }) => ({
    title: `${path}: ${fullName}`,
    detail: head((failureMessages ?? []).join('\n')),
  }));
}

function flakyFiles({ results, secondTry }: Report): { path: string; first: string; second: string }[] {
  if (secondTry?.code !== 0) return [];
  return (results?.testResults ?? [])
    .filter(({ status }) => status === 'failed')
    .map((file) => ({
      path: relative('', file.name),
      first: failedTests(file)
        .map(({ title, detail }) => `${title}\n${detail}`)
        .join('\n'),
      second: tail(secondTry.output),
    }));
}

const slowest = (files: TestFile[]) =>
  files
    .map(({ name, startTime, endTime }) => ({
      path: relative('', name),
      seconds: (endTime - startTime) / 1000,
    }))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, SLOWEST);

const linesOf = (text: string) => text.replaceAll(COLORS, '').trimEnd().split('\n');

const head = (text: string) => linesOf(text).slice(0, MESSAGE_LINES).join('\n');

const tail = (text: string) => linesOf(text).slice(-MESSAGE_LINES).join('\n');

const indent = (text: string): string[] => text.split('\n').map((line) => `    ${line}`);
