import { expect, test } from '@jest/globals';
import type { ProcessHealth } from '../../../../web/api/types.ts';
import { type Facts, plainVerdictOf, stalledMs } from '../../../../web/state/verdict.ts';

const WELL = { ok: true, message: 'well' };
const AWAY = { ok: false, message: 'does not answer' };

const processOf = (more?: Partial<ProcessHealth>): ProcessHealth => ({
  client_id: 'millrace-1',
  role: 'all',
  checks: { database: WELL },
  unanswered_ms: 0,
  unsettled: { messages: 3, oldest_ms: 20, standstill_ms: 10 },
  ...more,
});

/** @param more members that differ from a process that waits for its database */
const stuckOf = (more?: Partial<ProcessHealth>) =>
  processOf({
    checks: { database: AWAY },
    unanswered_ms: 34_000,
    unsettled: { messages: 102, oldest_ms: 40_643, standstill_ms: 35_200 },
    ...more,
  });

test.each<[string, Partial<Facts>, string]>([
  ['no data from the API yet', { status: 'connecting', health: [] }, 'Ready'],
  ['one of two processes does not reach the database', { health: [processOf(), stuckOf()] }, 'Ready'],
  ['no process reaches the database', { health: [stuckOf()] }, 'Database does not answer'],
  ['the connection is lost for 6 s', { status: 'reconnecting', silentMs: 6000 }, 'Reconnecting'],
  ['the connection is live, and silent for 11 s', { silentMs: 11_000 }, 'No answer'],
  ['the tab is hidden', { status: 'paused', silentMs: 600_000 }, 'Ready'],
])('Status in the page header of the core alone: %s: label', (_, facts, label) => {
  const usual: Facts = { status: 'live', silentMs: 400, health: [processOf()], withoutIngestMs: 0 };
  expect(plainVerdictOf({ ...usual, ...facts }).label).toBe(label);
});

test('Time without stored messages: no ingest process stores: measured from the last message that any process stored', () => {
  expect(stalledMs([])).toBeNull();
  expect(stalledMs([processOf()])).toBeNull();
  expect(stalledMs([stuckOf(), processOf({ client_id: 'millrace-2' })])).toBeNull();
  expect(stalledMs([stuckOf(), processOf({ role: 'http' })])).toBe(35_200);
  expect(
    stalledMs([
      stuckOf(),
      stuckOf({ unanswered_ms: 9000, unsettled: { messages: 0, oldest_ms: 0, standstill_ms: 0 } }),
    ]),
  ).toBe(9000);
});
