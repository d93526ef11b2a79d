import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createPermits } from '../../../../api/ingest/backpressure/window.js';
import { withPermit } from '../../../support/permit.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('Permits: jobs need several requests each: the limit holds, and every job finishes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.record({ requests: fc.integer({ min: 1, max: 5 }), together: fc.boolean() }), {
        maxLength: 12,
      }),
      async (most, jobs) => {
        const permits = createPermits({ size: most });
        let inFlight = 0;
        let highest = 0;
        const request = () =>
          withPermit(permits, async () => {
            inFlight++;
            highest = Math.max(highest, inFlight);
            await turn();
            inFlight--;
          });
        await Promise.all(
          jobs.map(async ({ requests, together }) => {
            if (together) await Promise.all(Array.from({ length: requests }, request));
            else for (let at = 0; at < requests; at++) await request();
          }),
        );
        expect(highest).toBeLessThanOrEqual(most);
        expect({ inUse: permits.inUse, waiting: permits.waiting }).toEqual({ inUse: 0, waiting: 0 });
      },
    ),
    { numRuns: 40 },
  );
});

test('Permits: a request fails, before or after it is sent: its permit is returned', async () => {
  const permits = createPermits({ size: 1 });
  const failing = [
    withPermit(permits, () => Promise.reject(new Error('later'))),
    withPermit(permits, () => {
      throw new Error('at once');
    }),
    withPermit(permits, async () => 'fine'),
  ];
  const outcomes = await Promise.allSettled(failing);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  expect(permits.inUse).toBe(0);
});

test('Permits: the window grows: several waiting requests are sent at once', async () => {
  const bound = { size: 1 };
  const permits = createPermits(bound);
  /** @type {Array<() => void>} */
  const ends = [];
  const all = Array.from({ length: 4 }, () =>
    withPermit(permits, () => new Promise((resolve) => ends.push(() => resolve(undefined)))),
  );
  expect({ inUse: permits.inUse, waiting: permits.waiting }).toEqual({ inUse: 1, waiting: 3 });
  bound.size = 3;
  ends[0]?.();
  await all[0];
  expect({ inUse: permits.inUse, waiting: permits.waiting }).toEqual({ inUse: 3, waiting: 0 });
  // Admitted requests are sent in the following turns.
  await new Promise((resolve) => setImmediate(resolve));
  for (const end of ends) end();
  await Promise.all(all);
  expect(permits.inUse).toBe(0);
});

test('Permits: the bound has grown and requests still wait: a new request waits behind them', async () => {
  const bound = { size: 1 };
  const permits = createPermits(bound);
  void permits.enter();
  /** @type {string[]} */
  const entered = [];
  const first = permits.enter()?.then(() => entered.push('first'));
  bound.size = 2;
  const second = permits.enter()?.then(() => entered.push('second'));
  permits.leave(0);
  await Promise.all([first, second]);
  expect(entered).toEqual(['first', 'second']);
});
