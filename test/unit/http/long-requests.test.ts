import { expect, test } from '@jest/globals';
import type { Response } from 'express';
import fc from 'fast-check';
import { createWaitingLimit } from '../../../api/http/long-requests.ts';

const response = (closed = false) => ({ closed }) as never as Response;

test('Queue of long requests: 1 to 20 requests, some fail: at most `limit` run at once, and all are answered', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }),
      async (most, fails) => {
        const limit = createWaitingLimit(most);
        let running = 0;
        let highest = 0;
        const results = await Promise.allSettled(
          fails.map((isFailing) =>
            limit(response(), async () => {
              highest = Math.max(highest, ++running);
              await new Promise((resolve) => setImmediate(resolve));
              running--;
              if (isFailing) throw new Error('the database is away');
            }),
          ),
        );
        expect(results.map(({ status }) => status === 'rejected')).toEqual(fails);
        expect(highest).toBe(Math.min(most, fails.length));
      },
    ),
    { numRuns: 50 },
  );
});

test('Queue of long requests: many requests wait: other work of the process runs between two of them', async () => {
  const limit = createWaitingLimit(1);
  let others = 0;
  let isDone = false;
  const work = () => {
    others++;
    if (!isDone) setImmediate(work);
  };
  setImmediate(work);
  await Promise.all(Array.from({ length: 10 }, () => limit(response(), async () => {})));
  isDone = true;
  expect(others).toBeGreaterThanOrEqual(10);
});

test('Queue of long requests: a client disconnects while its request waits: the request does not run', async () => {
  const limit = createWaitingLimit(1);
  let isAnswered = false;
  await limit(response(true), async () => {
    isAnswered = true;
  });
  expect(isAnswered).toBe(false);
});
