import { expect, test } from '@jest/globals';
import { type Period, slope, soak } from '../../../../tools/bench/parts/soak.ts';

const HOUR_MS = 3_600_000;
const latency = { count: 1, p50: 1, p90: 2, p99: 3, p999: 4, p9999: 5, max: 6, mean: 1.5 };

const periodsOf = (memory: number[]): Period[] =>
  memory.map((mb, index) => ({
    at: (index + 1) * HOUR_MS,
    latency,
    memory: { ingest: mb },
    disk: 10 * index,
    compactions: { completed: index, pending: 0 },
  }));

test('Slope of the soak: memory rises by 3 MB an hour after a first jump: the jump is left out', () => {
  const periods = periodsOf([0, ...Array.from({ length: 9 }, (_, index) => 200 + 3 * index)]);
  expect(slope(periods, ({ memory }) => Number(memory['ingest']))).toBeCloseTo(3);
});

test('Report of the soak: 96 hours that end early: it has the failure, the slopes and at most 24 periods', () => {
  const periods = periodsOf(Array.from({ length: 576 }, () => 100));
  const [failure, slopes, table] = soak.tables({ rate: 50_000, periods, failure: 'The disk is full.' });
  expect(failure?.rows).toEqual([['The disk is full.']]);
  expect(slopes?.rows).toEqual([
    ['ingest', '0'],
    ['disk', '10.0'],
  ]);
  expect(table?.rows).toHaveLength(24);
  expect(table?.rows.at(-1)?.[0]).toBe('576.00');
});
