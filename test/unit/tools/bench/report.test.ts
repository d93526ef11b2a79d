import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { everything, insertBetweenMarks } from '../../../../tools/bench/documents.ts';
import { targetsTable } from '../../../../tools/bench/parts/index.ts';

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
  const text = everything({
    began: '2026-11-21T16:00:00.000Z',
    commit: '1a2b3c4d5e6f',
    machine,
    results: { throughput: [comparison('1x60')] },
  });
  expect(text).toContain(
    '2026-11-21, at commit 1a2b3c4d5e6f, on 2 cores (A processor, 24 GiB, linux 6, Node v20)',
  );
  expect(text).toContain('| 4.00 | yes |');
});

test('Bench report: README and benchmarks page name the same run and commit', () => {
  const measured = (path: string) =>
    /^Measured on .*$/m.exec(readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8'))?.[0];
  expect(measured('README.md')).toMatch(/^Measured on [\d-]+.*, (at|before) commit [0-9a-f]{7,}.*, on /);
  expect(measured('docs/explanation/benchmarks.md')).toBe(measured('README.md'));
});
