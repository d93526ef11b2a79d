import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';

const directory = mkdtempSync(join(tmpdir(), 'millrace-summary-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** @param {{ seconds: number[], failed?: string, skipped?: number }} suite */
function summaryOf({ seconds, failed, skipped = 0 }) {
  const path = join(directory, 'results.json');
  const testResults = seconds.map((took, index) => ({
    name: resolve(`test/unit/t${index}.test.js`),
    startTime: 1000,
    endTime: 1000 + took * 1000,
    status: failed && index === 0 ? 'failed' : 'passed',
    assertionResults: failed ? [{ status: 'failed', fullName: failed }] : [],
  }));
  const counts = {
    numPassedTests: 5,
    numFailedTests: failed ? 1 : 0,
    numRuntimeErrorTestSuites: 0,
    numPendingTests: skipped,
    numTodoTests: 0,
  };
  writeFileSync(path, JSON.stringify({ ...counts, testResults }));
  const { status, stdout } = spawnSync(process.execPath, ['.ci/summary.js', path], { encoding: 'utf8' });
  return { status, lines: stdout.trim().split('\n') };
}

test('Summary of CI: twelve test files: the ten slowest, slowest first', () => {
  const { status, lines } = summaryOf({ seconds: [3, 1, 2, 12, 4, 5, 6, 7, 8, 9, 10, 11] });
  expect(status).toBe(0);
  expect(lines[0]).toBe('Slowest test files:');
  expect(lines.slice(1, -1)).toHaveLength(10);
  expect(lines[1]).toBe('    12.0 s  test/unit/t3.test.js');
  expect(lines[10]).toBe('     3.0 s  test/unit/t0.test.js');
  expect(lines.at(-1)).toBe('5 passed, 0 failed');
});

test('Summary of CI: a test fails: it is named, and the exit code is 1', () => {
  const { status, lines } = summaryOf({ seconds: [1], failed: 'Subject: condition: result' });
  expect(status).toBe(1);
  expect(lines.join('\n')).toContain('t0.test.js: Subject: condition: result');
});

test('Summary of CI: a test is skipped: the exit code is 1', () => {
  const { status, lines } = summaryOf({ seconds: [1], skipped: 1 });
  expect(status).toBe(1);
  expect(lines.at(-1)).toBe('5 passed, 0 failed, 1 skipped');
});
