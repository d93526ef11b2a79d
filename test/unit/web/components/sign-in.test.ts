import { expect, test } from '@jest/globals';
import { readinessVerdict } from '../../../../web/kit/sign-in.tsx';

const ANSWERS = { ok: true, message: 'answers' };
const FAILS = { ok: false, message: 'does not answer' };

test.each([
  ['all checks succeed', true, { database: ANSWERS }, 'good', /./],
  ['only the check live fails', true, { database: ANSWERS, live: FAILS }, 'good', /./],
  [
    'database does not answer',
    false,
    { database: FAILS, broker: FAILS },
    'critical',
    /^The database does not answer/,
  ],
  [
    'broker does not answer',
    false,
    { database: ANSWERS, broker: FAILS },
    'critical',
    /^The broker is out of reach/,
  ],
  [
    'check of the clock fails',
    false,
    { database: ANSWERS, clock: FAILS },
    'critical',
    /the check clock fails/,
  ],
])(
  'Sign-in page: %s, readiness %p: a problem is shown only if the API is not ready',
  (_, ready, checks, level, headline) => {
    expect(readinessVerdict({ ready, checks })).toMatchObject({
      level,
      headline: expect.stringMatching(headline),
    });
  },
);
