import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MillraceError } from '../../../../common/errors.ts';
import type { Config } from '../../../../common/settings/config.ts';
import { readSettings } from '../../../../common/settings/index.ts';
import { windowFor } from '../../../../schema/time-window.ts';
import {
  CONSTANTS,
  messageCost,
  NODES,
  needsOf,
  type Plan,
  stayOf,
} from '../../../../tools/sizing/formula.ts';
import { readPlan, reportOf } from '../../../../tools/sizing/size.ts';

const read = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');

/** @param flags command line after `npm run size --` */
const planOf = (flags: string = '') => readPlan(flags === '' ? [] : flags.split(' '));

const LINE = '--sensors 1e6 --interval 1s --batch 60s --retention 30d --history 1y';

describe('Sizing page', () => {
  const page = read('docs/explanation/sizing.md');

  test('Sizing page: the example equals the output of npm run size', () => {
    expect(page).toContain(`$ npm run size -- ${LINE}\n${reportOf(planOf(LINE))}\n\`\`\``);
  });

  test.each(Object.values(CONSTANTS))(
    'Sizing page: $label: the page has the values of the code',
    ({ label, values, source }) => {
      const cell = Object.entries(values).map((value) => value.join(' '));
      expect(page).toContain(`| ${label} | ${cell.join(', ')} | ${source} |`);
    },
  );
});

const { bench } = JSON.parse(read('docs/explanation/benchmarks.json'));

/** Loads with their CPU µs a sample of ingest, database and broker. */
const PUBLISHED: number[][] = bench.sections
  .flatMap(({ tables }: { tables: Array<{ rows: string[][] }> }) => tables.flatMap(({ rows }) => rows))
  .flatMap(([name = '', ...cells]: string[]) => {
    const [, sensors, samples] = /^(\d+)x(\d+) packed$/.exec(name) ?? [];
    return sensors ? [[sensors, samples, ...cells].map(Number)] : [];
  });

test('Sizing: five loads of the benchmarks: calculated and measured CPU differ by less than the headroom', () => {
  expect(PUBLISHED).toHaveLength(5);
  for (const [sensors = 0, samples = 0, ...measured] of PUBLISHED) {
    const { ingest, database, broker } = CONSTANTS;
    for (const [index, { values }] of [ingest, database, broker].entries()) {
      const calculated = messageCost(values, { sensors, samples }) / (sensors * samples);
      const error = calculated / Number(measured[index]) - 1;
      expect(Math.abs(error)).toBeLessThan(1 - CONSTANTS.busy.values.cores);
    }
  }
});

test('Sizing: node types: the default of infra/terraform has its known vCPUs and disk', () => {
  expect(NODES['i7i.2xlarge']).toEqual({ vcpus: 8, diskBytes: 1875e9 });
  expect(read('infra/terraform/variables.tf')).toContain('default     = "i7i.2xlarge"');
});

test('Sizing: CPU cost of a message: the sum of the costs of message, sensors and samples', () => {
  expect(messageCost({ message: 30, sensor: 10, sample: 2 }, { sensors: 4, samples: 10 })).toBe(150);
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
    expect(Math.abs(stayOf(days) * days - oldest)).toBeLessThan(2 / 24);
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

describe('Sizing: properties', () => {
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
});

describe('Sizing: lines for .env', () => {
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
});

describe('Sizing: flags', () => {
  test('Sizing flags: numbers like 1e6 and durations with a unit are read', () => {
    const { fleet, node } = planOf('--sensors 2e6 --interval 500ms --batch 5m --history 2y --node-disk 7500');
    expect(fleet).toMatchObject({ sensors: 2e6, intervalMs: 500, batchMs: 300_000, historyDays: 730 });
    expect(node).toEqual({ vcpus: 8, diskBytes: 7.5e12 });
  });

  test('Sizing flags: an unknown node type is accepted only with --node-vcpu and --node-disk', () => {
    const { node } = planOf('--node mine --node-vcpu 32 --node-disk 15000');
    expect(node).toEqual({ vcpus: 32, diskBytes: 15e12 });
    expect(() => planOf('--node mine')).toThrow(/--node is one of/);
  });

  test.each([
    ['--retention 5h', /--retention is whole days/],
    ['--retention 3651d --history 20y', /--retention is whole days, 4 to 3650/],
    ['--history 10d', /--history is whole days/],
    ['--interval 1ms --batch 1h', /samples in a message/],
    ['--sensors 5', /--sensors is fewer/],
    ['--signal noise', /--signal is/],
    ['--sensors many', /--sensors takes a number/],
  ])('Sizing flags: %s: the error names the problem', (flags, message) => {
    expect(() => planOf(flags)).toThrow(message);
    expect(() => planOf(flags)).toThrow(MillraceError);
  });
});
