import { expect, test } from '@jest/globals';
import { ProcessHealth, parseHealth } from '../../../api/observability/process-health.ts';

const WELL = { database: { ok: true, message: 'answers' } };
const AWAY = { database: { ok: false, message: 'does not answer' } };

test('Process health: the database is unreachable: the time since its last answer and the waiting messages are reported', async () => {
  let now = 1000;
  let checks = WELL;
  const progress = { unsettled: 0, oldestMs: 0, standstillMs: 0 };
  const health = new ProcessHealth({
    role: 'all',
    readiness: { read: async () => ({ ready: true, checks }) },
    progress,
    monotonic: () => now,
    everyMs: 86_400_000,
  });
  const check = async () => {
    health.stop();
    await health.start();
  };
  try {
    expect(health.read()).toMatchObject({ checks: {}, unanswered_ms: 0 });
    await check();
    checks = AWAY;
    now = 5000;
    await check();
    Object.assign(progress, { unsettled: 102, oldestMs: 3500.4, standstillMs: 3400.6 });
    now = 6000;
    expect(health.read()).toEqual({
      role: 'all',
      checks: AWAY,
      unanswered_ms: 5000,
      unsettled: { messages: 102, oldest_ms: 3500, standstill_ms: 3401 },
    });
    checks = WELL;
    await check();
    expect(health.read().unanswered_ms).toBe(0);
  } finally {
    health.stop();
  }
});

const REPORT = {
  role: 'ingest',
  checks: WELL,
  unanswered_ms: 0,
  unsettled: { messages: 1, oldest_ms: 2, standstill_ms: 3 },
};

test('Health report: valid: copied without unknown members', () => {
  const report = { ...REPORT, more: 1, checks: { database: { ok: true, message: 'answers', more: 1 } } };
  expect(parseHealth(report)).toEqual(REPORT);
});

test.each([
  ['null', null],
  ['a text', 'well'],
  ['an unknown role', { ...REPORT, role: 'god' }],
  ['no checks', { ...REPORT, checks: { database: true } }],
  ['a long message', { ...REPORT, checks: { database: { ok: true, message: 'x'.repeat(1001) } } }],
  [
    'too many checks',
    {
      ...REPORT,
      checks: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [i, { ok: true, message: '' }])),
    },
  ],
  ['a negative time', { ...REPORT, unanswered_ms: -1 }],
  ['no messages', { ...REPORT, unsettled: null }],
])('Health report: %s: parseHealth() returns null', (_, report) => {
  expect(parseHealth(report)).toBeNull();
});
