import { afterEach, expect, jest, test } from '@jest/globals';
import pino from 'pino';
import { Retry } from '../../../../api/store/sending/retry.ts';
import { MillraceError } from '../../../../common/errors.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

test('Retry of database requests: the clock is set back during an outage: failingForMs still grows', async () => {
  const retry = new Retry({ logger: pino({ level: 'silent' }), onRetry: () => {} });
  expect(retry.failingForMs).toBe(0);
  let isAway = true;
  const written = retry.run(async () => {
    if (isAway) throw new MillraceError('unavailable', 'no answer');
  });
  await new Promise((resolve) => setImmediate(resolve));
  const hourAgo = Date.now() - 3_600_000;
  jest.spyOn(Date, 'now').mockReturnValue(hourAgo);
  expect(retry.failingForMs).toBeGreaterThan(0);
  isAway = false;
  await written;
  expect(retry.failingForMs).toBe(0);
});
