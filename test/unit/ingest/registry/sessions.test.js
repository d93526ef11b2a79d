import { expect, test } from '@jest/globals';
import { sessionStart } from '../../../../api/ingest/registry/births.js';

const RECEIVED = Date.UTC(2026, 10, 21, 12);

test.each([
  [RECEIVED - 5000, RECEIVED - 5000],
  ['2026-11-21T11:59:55Z', RECEIVED - 5000],
  ['2026-11-21T12:59:55+01:00', RECEIVED - 5000],
  [String(RECEIVED - 5000), RECEIVED - 5000],
])('Session: began at %p', (session, start) => {
  expect(sessionStart(session, RECEIVED)).toBe(start);
});

test.each([
  [undefined],
  [null],
  ['yesterday'],
  [{}],
  [1.5],
  [Number.NaN],
  // Whose clock was never set, or is ahead.
  [86_400_000],
  ['1970-01-02T00:00:00Z'],
  [RECEIVED + 1],
  ['2027-01-01T00:00:00Z'],
])('Session: its start is not usable, %p: the time of receipt', (session) => {
  expect(sessionStart(session, RECEIVED)).toBe(RECEIVED);
});
