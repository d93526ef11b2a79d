import { expect, test } from '@jest/globals';
import type { ProcessHealth } from '../../../../../web/api/types.ts';
import { verdictOf } from '../../../../../web/features/pipeline/verdict.ts';
import type { Facts } from '../../../../../web/state/verdict.ts';

const WELL = { ok: true, message: 'well' };
const AWAY = { ok: false, message: 'does not answer' };
const CUT = { ok: false, message: 'not connected' };

const processOf = (more?: Partial<ProcessHealth>): ProcessHealth => ({
  client_id: 'millrace-1',
  role: 'all',
  checks: { database: WELL, clock: WELL, broker: WELL, acknowledgements: WELL },
  unanswered_ms: 0,
  unsettled: { messages: 3, oldest_ms: 20, standstill_ms: 10 },
  ...more,
});

const stuckOf = (more?: Partial<ProcessHealth>) =>
  processOf({
    checks: { database: AWAY, broker: WELL, acknowledgements: { ok: false, message: '102 wait' } },
    unanswered_ms: 34_000,
    unsettled: { messages: 102, oldest_ms: 40_643, standstill_ms: 35_200 },
    ...more,
  });

const verdict = (facts: Partial<Facts>) =>
  verdictOf({ status: 'live', silentMs: 400, health: [processOf()], withoutIngestMs: 0, ...facts });

const NO_MESSAGES = { messages: 0, oldest_ms: 0, standstill_ms: 0 };

test('Status in the page header: all checks succeed, or no data from the API yet: level good', () => {
  expect(verdict({})).toMatchObject({ level: 'good', details: [] });
  expect(verdict({ status: 'connecting', silentMs: 3000, health: [] }).level).toBe('good');
});

test('Status in the page header: the tab is hidden and gets no events: the last verdict stays', () => {
  expect(verdict({ status: 'paused', silentMs: 600_000 }).level).toBe('good');
  expect(verdict({ status: 'paused', silentMs: 600_000, health: [stuckOf()] }).level).toBe('critical');
  expect(verdict({ status: 'connecting', silentMs: 600_000 }).level).toBe('critical');
});

test.each([
  [
    'database does not answer, messages wait',
    { health: [stuckOf()] },
    'critical',
    'Nothing stored for 35 s: the database does not answer. 102 messages wait.',
  ],
  [
    'database does not answer, one message waits',
    { health: [stuckOf({ unsettled: { messages: 1, oldest_ms: 9000, standstill_ms: 9000 } })] },
    'critical',
    'Nothing stored for 34 s: the database does not answer. 1 message waits.',
  ],
  [
    'database does not answer, no message waits',
    { health: [stuckOf({ unsettled: NO_MESSAGES })] },
    'critical',
    'The database has not answered for 34 s. Nothing can be stored or read.',
  ],
  [
    'database does not answer one of two processes',
    { health: [stuckOf(), processOf({ client_id: 'millrace-2' })] },
    'critical',
    'millrace-1: the database has not answered for 35 s. 102 messages wait.',
  ],
  [
    'database answers neither of two processes',
    { health: [stuckOf(), stuckOf({ client_id: 'millrace-2' })] },
    'critical',
    'Nothing stored for 35 s: the database does not answer. 204 messages wait.',
  ],
  [
    'broker not connected',
    { health: [processOf({ checks: { database: WELL, broker: CUT } })] },
    'critical',
    'Nothing arrives: the broker is out of reach (not connected). Messages wait there, or with the devices.',
  ],
  [
    'broker not connected to one of two processes',
    {
      health: [
        processOf({ checks: { database: WELL, broker: CUT } }),
        processOf({ client_id: 'millrace-2' }),
      ],
    },
    'critical',
    'Nothing reaches millrace-1: the broker is out of reach (not connected). Messages wait there, or with the devices.',
  ],
  [
    'no message is stored although the database answers',
    { health: [processOf({ unsettled: { messages: 7, oldest_ms: 61_000, standstill_ms: 61_000 } })] },
    'critical',
    'Nothing stored for 1 min 1 s, although the database answers. 7 messages wait.',
  ],
  [
    'messages wait for 12 s',
    { health: [processOf({ unsettled: { messages: 7, oldest_ms: 12_000, standstill_ms: 30 } })] },
    'warning',
    '7 messages wait, the oldest for 12 s. Storing is slow.',
  ],
  [
    'no ingest process sends a heartbeat',
    { health: [processOf({ role: 'http' })], withoutIngestMs: 6000 },
    'critical',
    'Nothing is stored: no process that takes measurements reports.',
  ],
  [
    'no heartbeat of ingest, since the broker is not connected',
    {
      health: [processOf({ role: 'http', checks: { database: WELL, live: CUT } })],
      withoutIngestMs: 6000,
    },
    'critical',
    'Nothing is known of the processes that store: the broker between them and this page is out of reach.',
  ],
  [
    'clock of a process is wrong',
    {
      health: [processOf({ checks: { clock: { ok: false, message: "12000 ms behind the database's" } } })],
    },
    'critical',
    "The clock of millrace-1 is wrong: it is 12000 ms behind the database's clock.",
  ],
  [
    'changes reach the dashboard late',
    { health: [processOf({ checks: { database: WELL, live: CUT } })] },
    'warning',
    'Changes reach readers of millrace-1 late: not connected.',
  ],
  [
    'connection to the API lost for 12 s',
    { status: 'reconnecting', silentMs: 12_000 },
    'critical',
    'The API has not answered for 12 s. The values on this page are old.',
  ],
  [
    'no event from the API for 11 s',
    { silentMs: 11_000 },
    'critical',
    'The API has not answered for 11 s. The values on this page are old.',
  ],
] as Array<[string, Partial<Facts>, string, string]>)(
  'Status in the page header: %s: level and text of the headline',
  (_, facts, level, headline) => {
    expect(verdict(facts)).toMatchObject({ level, headline });
  },
);

test('Status in the page header: API connection lost for 2 s, or no ingest process for 3 s: level still good', () => {
  expect(verdict({ status: 'reconnecting', silentMs: 2000 }).level).toBe('good');
  expect(verdict({ health: [processOf({ role: 'http' })], withoutIngestMs: 3000 }).level).toBe('good');
});

test('Status in the page header: several problems: the critical problem is the headline, each process has a detail line', () => {
  const late = processOf({ client_id: 'millrace-2', checks: { database: WELL, live: CUT } });
  const { headline, details } = verdict({ health: [late, stuckOf()] });
  expect(headline).toMatch(/^millrace-1: the database has not answered/);
  expect(details).toEqual([
    'millrace-2: live: not connected; 3 messages wait, the oldest for 1 s.',
    'millrace-1: the database has not answered for 34 s; 102 messages wait, the oldest for 40 s.',
  ]);
});
