import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { benchFigures, headline, insertBetweenMarks } from '../../../../tools/bench/documents.ts';
import { targetsTable } from '../../../../tools/bench/parts/index.ts';
import { figure, stealOf, textTable } from '../../../../tools/bench/report/table.ts';
import { currentCommit } from '../../../../tools/bench/session.ts';

const rated = (rate: number) => ({ rate, cpu: { ingest: 1, database: 1 }, steal: 0, others: 0 });

/** Creates a result with two rounds of a load. @param times packed rates of the rounds, against rows */
const comparison = (shape: string, times: number[] = [3, 5]) => ({
  shape,
  sweeps: {},
  rounds: times.map((factor) => ({
    results: {
      packed: rated(1000 * factor),
      rows: rated(1000),
    },
    steal: 0,
    others: 0,
    repeats: 0,
  })),
});

describe('Report: figures', () => {
  test('Bench report: figures have three significant digits', () => {
    expect([0.123456, 1.2345, 12.345, 123.45, 1234.5, 0].map((number) => figure(number))).toEqual([
      '0.123',
      '1.23',
      '12.3',
      '123',
      '1235',
      '0',
    ]);
    expect(figure(Number.NaN)).toBe('-');
  });
});

describe('Report: tables', () => {
  const head = ['load', 'rate'];
  const rows = [
    ['1x60', '574'],
    ['10x100', '9'],
  ];

  test('Bench report: text table: columns are aligned', () => {
    expect(textTable(head, rows).split('\n')).toEqual([
      'load    rate',
      '------  ----',
      '1x60     574',
      '10x100     9',
    ]);
  });
});

test('Bench report: CPU steal is shown with the number of repeated rounds, and with a note if no round was quieter', () => {
  expect(stealOf([{ steal: 0.001, repeats: 0 }])).toBe('0.1 %');
  expect(
    stealOf([
      { steal: 0.01, repeats: 1 },
      { steal: 0.002, repeats: 0 },
    ]),
  ).toBe('1.0 %, 1 repeated');
  expect(stealOf([{ steal: 0.17, repeats: 2 }])).toBe('17.0 %, 2 repeated, not quieter');
});

describe('Report: table of targets', () => {
  test('Bench report: table of targets: two rounds: each row has the median of the ratios of the rounds, and whether the target is reached', () => {
    const { rows } = targetsTable({ throughput: [comparison('1x60')] });
    expect(rows[0]).toEqual([
      'acknowledged samples/s against one row per sample, 1x60',
      '3.5 or more',
      '4.00',
      'yes',
    ]);
    const slow = targetsTable({ throughput: [comparison('1x60', [1])] });
    expect(slow.rows[0]?.slice(2)).toEqual(['1.00', 'no']);
  });

  test('Bench report: table of targets: targets without a measurement are left out', () => {
    expect(targetsTable({}).rows).toEqual([]);
    expect(targetsTable({ throughput: [comparison('2x2')] }).rows).toEqual([]);
  });
});

describe('Report: README', () => {
  const document = 'before\n<!-- bench: written by npm run bench:readme -->\nold\n<!-- /bench -->\nafter\n';

  test('Bench report: text is inserted between the marks, and a second insertion changes nothing', () => {
    const once = insertBetweenMarks(document, 'new', 'bench');
    expect(once).toContain('before\n');
    expect(once).toContain('\nnew\n');
    expect(once).not.toContain('old');
    expect(insertBetweenMarks(once, 'new', 'bench')).toBe(once);
  });

  test('Bench report: the document has no marks for the text: a RangeError is thrown', () => {
    expect(() => insertBetweenMarks('nothing', 'new', 'bench')).toThrow(RangeError);
  });

  test('Bench report: the text has the machine, the date and the commit', () => {
    const machine = { processors: 2, model: 'A processor', memoryGiB: 24, system: 'linux 6', node: 'v20' };
    const { measured, sections } = benchFigures({
      began: '2026-11-21T16:00:00.000Z',
      commit: '1a2b3c4d5e6f',
      machine,
      results: { throughput: [comparison('1x60')] },
    });
    expect(measured).toContain(
      '2026-11-21, at commit 1a2b3c4d5e6f, on 2 cores (A processor, 24 GiB, linux 6, Node v20)',
    );
    expect(sections[0]?.tables[0]?.rows[0]?.slice(2)).toEqual(['4.00', 'yes']);
  });
});

test('Bench report: the headline of the README has three measured figures and the machine', () => {
  const machine = { processors: 2, model: 'A processor', memoryGiB: 24, system: 'linux 6', node: 'v20' };
  const run = { began: '2026-11-21T16:00:00.000Z', commit: '1a2b3c4d5e6f', machine };
  const text = headline({
    ...run,
    results: {
      throughput: [comparison('1x60')],
      disk: [{ signal: 'decimals', history: 1.161 }],
      reading: { rounds: [{ results: { year: { p50: 133.2 } } }] },
    } as never,
  });
  expect(text).toContain('thousand samples/s** acknowledged with 60 samples a message, 4.00 times as many');
  expect(text).toContain('- **1.16 bytes a sample** in history on disk');
  expect(text).toContain('- a year of a sensor in **133 ms** (median)');
  expect(text).toContain('at commit 1a2b3c4d5e6f, on 2 cores');
  expect(headline({ ...run, results: {} })).not.toContain('- ');
});

test('Bench report: README and the figures of the manual name the same runs', () => {
  const root = new URL('../../../../', import.meta.url);
  const readme = readFileSync(new URL('README.md', root), 'utf8');
  const { bench, peers } = JSON.parse(
    readFileSync(new URL('docs/explanation/benchmarks.json', root), 'utf8'),
  );
  expect(bench.measured).toMatch(/^Measured on [\d-]+.*, at commit [0-9a-f]{7,}.*, on /);
  for (const { measured } of [bench, peers]) expect(readme).toContain(measured);
});

describe('Bench: the commit that is measured', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'millrace-commit-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@localhost', ...args], {
      cwd: directory,
      encoding: 'utf8',
    }).trim();

  test('Bench commit: a clone returns its commit, with -dirty after a change; a plain directory returns null', async () => {
    expect(await currentCommit(directory)).toBeNull();
    git('init', '--quiet');
    writeFileSync(join(directory, 'a'), '1');
    git('add', 'a');
    git('commit', '--quiet', '--message', 'x');
    git('tag', '--annotate', '--message', 'x', 'v1.0.0');
    const commit = git('rev-parse', '--short=12', 'HEAD');
    expect(await currentCommit(directory)).toBe(commit);
    writeFileSync(join(directory, 'b'), '2');
    expect(await currentCommit(directory)).toBe(commit);
    writeFileSync(join(directory, 'a'), '2');
    expect(await currentCommit(directory)).toBe(`${commit}-dirty`);
  });

  test('Bench commit: no directory is passed: the commit of this repository is returned', async () => {
    const root = fileURLToPath(new URL('../../../..', import.meta.url));
    expect(existsSync(join(root, 'package.json'))).toBe(true);
    expect(await currentCommit()).toBe(await currentCommit(root));
    if (existsSync(join(root, '.git'))) expect(await currentCommit()).not.toBeNull();
  });
});
