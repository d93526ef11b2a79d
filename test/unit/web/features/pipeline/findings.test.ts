import { expect, test } from '@jest/globals';
import { PACK_DELAY_MS as DELAY_OF_SCHEMA } from '../../../../../schema/rules.ts';
import { Problem } from '../../../../../web/api/request.ts';
import type { Pipeline, ProcessInfo, Stats } from '../../../../../web/features/pipeline/api.ts';
import { findingsOf } from '../../../../../web/features/pipeline/findings.tsx';
import { joinMoments, SPAN_MS, toMoments } from '../../../../../web/features/pipeline/moments.ts';
import { PACK_DELAY_MS, packingOf } from '../../../../../web/features/pipeline/processes.tsx';

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 10, 21, 14, 30);

const STATS: Stats = {
  samples_per_s: 100,
  commit_ms: { p50: 1, p99: 2 },
  in_flight: 3,
  window: 32,
  window_limit: 512,
  waiting: 0,
  journal_ms: 0,
  refused_per_s: 0,
  readers: 1,
};

const MEASUREMENTS = { received: 10, stored: 6, merged: 1, refused: 1, skipped: 2 };

const processOf = (more?: Partial<ProcessInfo>): ProcessInfo => ({
  client_id: 'millrace-1',
  role: 'ingest',
  version: '1',
  since: new Date(NOW - HOUR).toISOString(),
  seen: new Date(NOW).toISOString(),
  stale: false,
  samples_per_s: 1,
  commit_ms: { p50: 1, p99: 2 },
  in_flight: 1,
  refused_per_s: 0,
  readers: 1,
  measurements: MEASUREMENTS,
  pressure: { window: 32, window_limit: 512, waiting: 0, journal_ms: 0 },
  broker: { ok: true, message: 'connected' },
  ...more,
});

const pipelineOf = (more?: Partial<Pipeline>): Pipeline => ({
  processes: [processOf()],
  measurements: MEASUREMENTS,
  database: {
    nodes: [
      { address: '10.0.0.1:9042', data_center: 'dc', up: true },
      { address: '10.0.0.2:9042', data_center: 'dc', up: true },
    ],
  },
  broker: { ok: true, message: 'connected' },
  packed_until: new Date(NOW - 90 * 60_000).toISOString(),
  stream_out: null,
  ingest: { auto_register: true, mqtt: null },
  ...more,
});

const found = (more: Partial<Parameters<typeof findingsOf>[0]>) =>
  findingsOf({ pipeline: pipelineOf(), problem: null, stats: STATS, now: NOW, ...more });

test('Pipeline page: the last request failed: the last known state causes no message of its own', () => {
  const pipeline = pipelineOf({ broker: { ok: false, message: 'gone' }, processes: [] });
  const problem = { kind: 'network', isTemporary: true };
  expect(found({ pipeline, problem: problem as never }).map(({ stage }) => stage)).toEqual(['readers']);
});

test('Pipeline page: the stored heartbeat of a process is old, and the process reports to the page: no message is shown', () => {
  const pipeline = pipelineOf({ processes: [processOf({ client_id: 'x', stale: true })] });
  const health = [{ client_id: 'x' }] as never;
  expect(found({ pipeline, health })).toEqual([]);
  expect(found({ pipeline })).toHaveLength(2);
});

test.each([
  [
    'MQTT broker not connected',
    { pipeline: pipelineOf({ broker: { ok: false, message: 'gone' } }) },
    'broker',
    'bad',
    /gone/,
  ],
  [
    'ingest process without heartbeat',
    {
      pipeline: pipelineOf({
        processes: [
          processOf(),
          processOf({ client_id: 'x', stale: true, seen: new Date(NOW - 120_000).toISOString() }),
        ],
      }),
    },
    'ingest',
    'warn',
    /^x has sent no heartbeat for 2 min$/,
  ],
  [
    'HTTP process without heartbeat',
    { pipeline: pipelineOf({ processes: [processOf(), processOf({ role: 'http', stale: true })] }) },
    'readers',
    'warn',
    /no heartbeat/,
  ],
  [
    'no ingest process',
    { pipeline: pipelineOf({ processes: [processOf({ role: 'http' })] }) },
    'ingest',
    'bad',
    /No process/,
  ],
  [
    '1,200 requests wait for the database',
    { stats: { ...STATS, waiting: 1200 } },
    'ingest',
    'warn',
    /1,200 requests wait for a place among 32/,
  ],
  [
    'one request waits for the database',
    { stats: { ...STATS, waiting: 1 } },
    'ingest',
    'warn',
    /: 1 request waits for a place among 32/,
  ],
  [
    'two measurements neither stored nor refused',
    { pipeline: pipelineOf({ measurements: { ...MEASUREMENTS, received: 12 } }) },
    'ingest',
    'bad',
    /^2 measurements are unaccounted for$/,
  ],
  [
    'one measurement counted as stored and refused',
    { pipeline: pipelineOf({ measurements: { ...MEASUREMENTS, stored: 7 } }) },
    'ingest',
    'bad',
    /^1 measurement is counted twice$/,
  ],
  [
    'measurements are refused',
    { stats: { ...STATS, refused_per_s: 0.4 } },
    'ingest',
    'warn',
    /0\.4 a second/,
  ],
  [
    'packing of hours is late',
    { pipeline: pipelineOf({ packed_until: new Date(NOW - 9 * HOUR).toISOString() }) },
    'database',
    'warn',
    /behind$/,
  ],
  [
    'database does not answer',
    { problem: new Problem({ title: 'x', code: 'unavailable', status: 503 }) },
    'database',
    'bad',
    /does not answer/,
  ],
  [
    'API does not answer',
    { problem: new Problem({ title: 'x', code: 'unreachable' }) },
    'readers',
    'bad',
    /cannot be reached/,
  ],
])(
  'Pipeline page: %s: one message at the affected stage, with severity and advice',
  (_, more, stage, tone, title) => {
    expect(found(more as never)).toEqual([
      expect.objectContaining({
        stage,
        tone,
        title: expect.stringMatching(title),
        advice: expect.stringMatching(/\.$/),
      }),
    ]);
  },
);

test('Pipeline page: one of two Cassandra nodes is down: a warning; both nodes are down: a critical message', () => {
  const nodes = pipelineOf().database.nodes;
  const down = (count: number) => ({
    nodes: nodes.map((node, i) => ({ ...node, up: i >= count })),
  });
  expect(found({ pipeline: pipelineOf({ database: down(1) }) })).toMatchObject([
    { tone: 'warn', title: '1 of 2 nodes of the database is down: 10.0.0.1:9042' },
  ]);
  expect(found({ pipeline: pipelineOf({ database: down(2) }) })).toMatchObject([
    { tone: 'bad', short: 'all nodes are down' },
  ]);
});

test('Packing lag of the pipeline: newest hour that may be packed: the lag counts from it; browser clock behind: zero', () => {
  expect(PACK_DELAY_MS).toBe(DELAY_OF_SCHEMA);
  const newest = Date.UTC(2026, 10, 21, 13);
  expect(packingOf(new Date(newest).toISOString(), NOW)).toEqual({ until: newest, newest, behindMs: 0 });
  expect(packingOf(new Date(newest - 2 * HOUR).toISOString(), NOW).behindMs).toBe(2 * HOUR);
  // The clock of the packing process may be ahead of the browser.
  expect(packingOf(new Date(newest + HOUR).toISOString(), NOW).behindMs).toBe(0);
});

const then = (secondsAgo: number) => ({
  ...STATS,
  ts: new Date(NOW - secondsAgo * 1000).toISOString(),
});

test('Recent pipeline statistics: server clock and browser clock differ: the newest entry is placed at the browser time', () => {
  const moments = toMoments([then(2), then(1), then(0)], NOW + 7 * HOUR);
  expect(moments.map(({ at }) => at - NOW - 7 * HOUR)).toEqual([-2000, -1000, 0]);
  expect(toMoments([], NOW)).toEqual([]);
});

test('Recent pipeline statistics: entries from the server: fill gaps without duplicates; too old ones are removed', () => {
  const at = (...seconds: number[]) => seconds.map((second) => ({ ...STATS, at: NOW + second * 1000 }));
  const seconds = (moments: { at: number }[]) => moments.map((moment) => (moment.at - NOW) / 1000);
  expect(seconds(joinMoments(at(1, 2, 7.1), at(1.9, 3, 4, 5, 6, 7)))).toEqual([1, 1.9, 3, 4, 5, 6, 7]);
  expect(seconds(joinMoments(at(1, 2), []))).toEqual([1, 2]);
  expect(seconds(joinMoments(at(0, SPAN_MS / 1000), at(SPAN_MS / 1000 + 1)))).toEqual([
    SPAN_MS / 1000,
    SPAN_MS / 1000 + 1,
  ]);
});
