import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Config } from '../../../../common/settings/config.ts';
import { readSettings } from '../../../../common/settings/index.ts';
import { GENERATED } from '../../../../docs/.vitepress/generated.js';
import { windowFor } from '../../../../schema/time-window.ts';
import { CONSTANTS, needsOf, type Plan, retentionFactor } from '../../../../tools/sizing/formula.ts';
import { readPlan, reportOf } from '../../../../tools/sizing/size.ts';

const read = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');

/** @param flags command line after `npm run size --` */
const planOf = (flags: string = '') => readPlan(flags === '' ? [] : flags.split(' '));

const LINE = '--sensors 1e6 --interval 1s --batch 60s --retention 30d --history 1y';

const page = read('docs/explanation/sizing.md');

test('Sizing page: example: equals the output of npm run size', () => {
  expect(page).toContain(`$ npm run size -- ${LINE}\n${reportOf(planOf(LINE))}\n\`\`\``);
});

test('Sizing page: constants in the manual: a row for each constant of the code, with its values and source', () => {
  const rows = String(GENERATED['sizing-constants']?.()).trim().split('\n').slice(2);
  expect(rows).toHaveLength(Object.keys(CONSTANTS).length);
  expect(rows).toContain('| share in use at most | cores 0.5, disks 0.7 | our choice |');
  expect(page).toContain('<!--@include: ../../.data/manual/sizing-constants.md-->');
});

test.each([4, 30, 31, 365, 730, 3650])(
  'Sizing: retention %p days: the oldest row remains as long as an hourly simulation shows',
  (days) => {
    const { windowDays } = windowFor(days);
    let oldest = 0;
    for (let now = 4 * (days + windowDays); now < 4 * (days + windowDays) + 3 * windowDays; now += 1 / 24) {
      // A compaction window is dropped when its last row has expired.
      oldest = Math.max(oldest, now - Math.floor((now - days) / windowDays) * windowDays);
    }
    expect(Math.abs(retentionFactor(days) * days - oldest)).toBeLessThan(2 / 24);
  },
);

test('Sizing: number of nodes: suffices for CPUs and disks, at least three, in steps of three', () => {
  const small = needsOf(planOf('--sensors 1e4'));
  expect([small.byCpu, small.byDisk, small.nodes, small.processes]).toEqual([1, 2, 3, 1]);
  const { byCpu, byDisk, nodes } = needsOf(planOf());
  expect(nodes % 3).toBe(0);
  expect(nodes - Math.max(byCpu, byDisk)).toBeGreaterThanOrEqual(0);
  expect(nodes - Math.max(byCpu, byDisk)).toBeLessThan(3);
});

/** @returns sizes that must never shrink for a larger plan */
const sizesOf = (plan: Plan): Record<string, number> => {
  const { cores, ...others } = needsOf(plan);
  return { ...cores, ...others };
};

function expectNoLess(less: Plan, more: Plan) {
  const large = sizesOf(more);
  for (const [name, size] of Object.entries(sizesOf(less)))
    expect([name, Number(large[name]) >= size * (1 - 1e-9)]).toEqual([name, true]);
}

const sensors = fc.integer({ min: 10, max: 1e9 });

test('Sizing: more sensors, longer retention or more replicas: the sizes of all resources grow or remain equal', () => {
  fc.assert(
    fc.property(sensors, fc.integer({ min: 1, max: 10 }), (some, times) => {
      const plan = planOf(`--sensors ${some}`);
      expectNoLess(plan, planOf(`--sensors ${some * times}`));
      expectNoLess(plan, planOf(`--sensors ${some} --history ${365 * times}d`));
      expectNoLess(plan, planOf(`--sensors ${some} --retention ${30 * times}d`));
      expectNoLess({ ...plan, replication: 1 }, { ...plan, replication: times });
    }),
    { numRuns: 25 },
  );
});

test('Sizing: twice the sensors: twice the traffic and bytes; twice the sample rate: twice the samples, equal messages', () => {
  const once = needsOf(planOf('--sensors 1e6'));
  const twice = needsOf(planOf('--sensors 2e6'));
  const faster = needsOf(planOf('--sensors 1e6 --interval 500ms'));
  expect([twice.samples, twice.messages]).toEqual([2 * once.samples, 2 * once.messages]);
  expect(twice.bytes / once.bytes).toBeCloseTo(2);
  expect([faster.samples, faster.messages]).toEqual([2 * once.samples, once.messages]);
});

test('Sizing: assets: their roll-ups grow with assets and types, and are a line of the report', () => {
  const some = needsOf(planOf('--assets 1000'));
  expect(some.rollUpBytes / needsOf(planOf('--assets 1000 --asset-types 1')).rollUpBytes).toBeCloseTo(4);
  expect(some.bytes - needsOf(planOf()).bytes).toBeGreaterThan(some.rollUpBytes);
  expect(reportOf(planOf('--assets 1000'))).toContain('roll-ups of 1,000 assets, in it');
  expect(reportOf(planOf())).not.toContain('assets');
});

const readBack = (flags: string): Config['retention'] => {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-size-'));
  const envFile = join(directory, '.env');
  writeFileSync(envFile, String(reportOf(planOf(flags)).split('\n\n').at(-1)));
  try {
    return readSettings({}, { envFile }).retention;
  } finally {
    rmSync(directory, { recursive: true });
  }
};

test.each([
  ['', { latestGroups: 128, batchDays: 30, historyDays: 365 }],
  ['--sensors 160000', { latestGroups: 16, batchDays: 30, historyDays: 365 }],
  ['--sensors 160001', { latestGroups: 32, batchDays: 30, historyDays: 365 }],
  ['--retention 4d --history 4d', { latestGroups: 128, batchDays: 4, historyDays: 4 }],
  [
    '--sensors 1e12 --retention 3650d --history 7300d',
    { latestGroups: 65_536, batchDays: 3650, historyDays: 7300 },
  ],
])('Sizing: flags %p: Millrace reads the printed .env lines', (flags, retention) => {
  expect(readBack(flags)).toEqual(retention);
});
