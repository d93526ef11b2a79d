import { expect, test } from '@jest/globals';
import { readSession } from '../../../../api/ingest/registry/sessions.ts';

const RECEIVED = Date.UTC(2026, 10, 21, 12);
const DAY_MS = 86_400_000;

test.each([
  [RECEIVED - 5000, RECEIVED - 5000],
  ['2026-11-21T11:59:55Z', RECEIVED - 5000],
  ['2026-11-21T12:59:55+01:00', RECEIVED - 5000],
  [String(RECEIVED - 5000), RECEIVED - 5000],
])('Session in a birth message: %p: its id and start are this time', (session, start) => {
  expect(readSession(session, RECEIVED)).toEqual({ id: start, start, offset: null });
});

test.each([[undefined], [null], ['yesterday'], [{}], [1.5], [Number.NaN], [1e300]])(
  'Session in a birth message: unusable value %p: the session has no id, and starts at the receipt',
  (session) => {
    expect(readSession(session, RECEIVED)).toEqual({ id: null, start: RECEIVED, offset: null });
  },
);

test.each([
  [DAY_MS, DAY_MS - RECEIVED],
  ['1970-01-02T00:00:00Z', DAY_MS - RECEIVED],
  ['2026-12-21T12:00:00Z', 30 * DAY_MS],
])('Session in a birth message: impossible time %p: clock offset is stored', (session, offset) => {
  expect(readSession(session, RECEIVED)).toEqual({ id: RECEIVED + offset, start: RECEIVED, offset });
});
