import { expect, test } from '@jest/globals';
import { readinessVerdict } from '../../../../web/kit/sign-in.tsx';

const ANSWERS = { ok: true, message: 'answers' };
const FAILS = { ok: false, message: 'does not answer' };

test.each([
  ['all well', true, { database: ANSWERS }, 'good', /./],
  ['a note fails, which is no reason', true, { database: ANSWERS, live: FAILS }, 'good', /./],
  ['database away', false, { database: FAILS, broker: FAILS }, 'critical', /^The database does not answer/],
  ['broker away', false, { database: ANSWERS, broker: FAILS }, 'critical', /^The broker is out of reach/],
  ['a clock is wrong', false, { database: ANSWERS, clock: FAILS }, 'critical', /the check clock fails/],
])('Sign-in page, readiness verdict: %s: ready %p: case %#', (_, ready, checks, level, headline) => {
  expect(readinessVerdict({ ready, checks })).toMatchObject({
    level,
    headline: expect.stringMatching(headline),
  });
});
