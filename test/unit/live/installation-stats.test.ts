import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { StatsListener } from '../../../api/live/index.ts';
import { InstallationStats } from '../../../api/live/installation-stats.ts';
import { LatencyHistogram } from '../../../api/observability/hot-metrics.ts';
import type { HealthReport } from '../../../api/observability/process-health.ts';
import type { StatsSnapshot } from '../../../api/observability/process-stats.ts';
import { until } from '../../support/until.ts';

/** @param commits ms */
function signsOf(rate: number, commits: number[] = []): StatsSnapshot {
  const counts = new LatencyHistogram();
  for (const ms of commits) counts.record(ms);
  return {
    samples_per_s: rate,
    refused_per_s: rate / 10,
    in_flight: 1,
    window: 8,
    window_limit: 64,
    waiting: 2,
    // Snapshots of older versions have no age of a journal.
    ...(rate === 20 && { journal_ms: 700 }),
    readers: 3,
    commits: counts.list(),
  };
}

const WELL: HealthReport = {
  role: 'all',
  checks: { database: { ok: true, message: 'answers' } },
  unanswered_ms: 0,
  unsettled: { messages: 0, oldest_ms: 0, standstill_ms: 0 },
};

const NOTHING = {
  samples_per_s: 0,
  commit_ms: { p50: null, p99: null },
  in_flight: 1,
  window: 8,
  window_limit: 64,
  waiting: 2,
  journal_ms: 0,
  refused_per_s: 0,
  readers: 3,
};

let now = 0;
let published: Array<[process: string, signs: StatsSnapshot]>;
let listener: StatsListener | undefined;
let own: StatsSnapshot;
let stats: InstallationStats;

const create = (serves = true) =>
  new InstallationStats({
    processStats: { snapshot: () => own },
    processHealth: { read: () => WELL },
    live: {
      publishStats: (process, signs) => void published.push([process, JSON.parse(signs)]),
      onStats: (given) => {
        listener = given;
      },
    },
    serves,
    clock: () => 1_795_680_000_000 + now,
    monotonic: () => now,
    everyMs: 1,
  });

beforeEach(() => {
  now = 0;
  published = [];
  listener = undefined;
  own = signsOf(0);
  stats = create();
  stats.start('own');
});
afterEach(() => stats.stop());

const receive = (process: string, signs: unknown) => listener?.(process, Buffer.from(JSON.stringify(signs)));

test('Installation statistics: several processes: each counts once; rates are added, latencies are those of all commits', () => {
  own = signsOf(10, [1, 1, 1]);
  receive('a', signsOf(5, [100]));
  receive('a', signsOf(20, [100]));
  receive('b', signsOf(0.5, []));
  // The process receives its own snapshot too.
  receive('own', signsOf(10, [1, 1, 1]));
  const { commit_ms, ...figures } = stats.read();
  expect(figures).toEqual({
    samples_per_s: 30.5,
    refused_per_s: 3.1,
    in_flight: 3,
    window: 24,
    window_limit: 192,
    waiting: 6,
    journal_ms: 700,
    readers: 9,
  });
  expect(commit_ms.p50).toBeCloseTo(1, 1);
  expect(Math.abs((commit_ms.p99 ?? 0) / 100 - 1)).toBeLessThan(0.03);
});

test('Installation statistics: a process stops publishing: its rates are included for three more seconds', () => {
  receive('a', signsOf(5));
  now = 2900;
  expect(stats.read().samples_per_s).toBe(5);
  now = 3100;
  expect(stats.read()).toEqual(NOTHING);
});

test.each([
  ['invalid JSON', '{'],
  ['null', null],
  ['a list', []],
  ['an empty object', {}],
  ['a string instead of a number', { ...signsOf(1), samples_per_s: '1' }],
  ['a negative figure', { ...signsOf(1), waiting: -1 }],
  ['a negative age of a journal', { ...signsOf(1), journal_ms: -1 }],
  ['an impossibly large figure', { ...signsOf(1), window: 1e300 }],
  ['no latency counts', { ...signsOf(1), commits: null }],
  ['an unknown bucket', { ...signsOf(1), commits: [[100_000, 1]] }],
  ['a fractional bucket', { ...signsOf(1), commits: [[1.5, 1]] }],
  ['a negative count', { ...signsOf(1), commits: [[1, -1]] }],
  ['a number instead of a pair', { ...signsOf(1), commits: [5] }],
  ['more than 20,000 bytes', { ...signsOf(1), more: 'x'.repeat(20_000) }],
])('Installation statistics: a message has %s: the message is ignored', (_, signs) => {
  const payload = typeof signs === 'string' ? signs : JSON.stringify(signs);
  expect(listener?.('a', Buffer.from(payload))).toBe(false);
  expect(stats.read()).toEqual(NOTHING);
});

test('Installation statistics: messages of a 1,001st process, or with a process name of 1,001 characters: ignored', () => {
  expect(receive('x'.repeat(1001), signsOf(1))).toBe(false);
  for (let i = 0; i < 1000; i++) expect(receive(`p${i}`, signsOf(1))).toBe(true);
  expect(receive('one more', signsOf(1))).toBe(false);
  expect(receive('p0', signsOf(2))).toBe(true);
  expect(stats.read().samples_per_s).toBe(1001);
  now = 4000;
  stats.read();
  expect(receive('one more', signsOf(1))).toBe(true);
});

test('Installation statistics: running process: publishes a snapshot of its rates, latencies and health', async () => {
  own = signsOf(7, [3]);
  await until(() => published.some(([, { samples_per_s }]) => samples_per_s === 7));
  expect(published.at(-1)).toEqual(['own', { ...own, health: WELL }]);
});

test('Installation statistics: history after many seconds: only the newest 300 snapshots are held', async () => {
  expect(stats.recent()).toEqual([{ ts: '2026-11-26T08:00:00.000Z', ...NOTHING }]);
  now = 500;
  receive('a', signsOf(5));
  await until(() => stats.recent().length === 300 && stats.recent()[0]?.samples_per_s === 5);
  expect(stats.recent()[0]).toMatchObject({ ts: '2026-11-26T08:00:00.500Z', samples_per_s: 5 });
});
