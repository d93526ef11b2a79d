import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Permits } from '../../../../api/store/sending/congestion-window.ts';
import type { Gate } from '../../../../api/store/sending/session.ts';
import { MillraceError } from '../../../../common/errors.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Sends a request through a gate, as the session of the store does. */
async function withPermit<T>(gate: Gate, request: () => Promise<T>): Promise<T> {
  const room = gate.enter();
  if (room !== undefined) await room;
  const began = performance.now();
  let failure: unknown;
  try {
    return await request();
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    gate.leave(began, failure);
  }
}

test('Permits for database requests: jobs with several requests: the limit is never exceeded, and every job finishes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.record({ requests: fc.integer({ min: 1, max: 5 }), together: fc.boolean() }), {
        maxLength: 12,
      }),
      async (most, jobs) => {
        const permits = new Permits({ size: most });
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

test('Permits for database requests: a request fails, before or after it is sent: its permit is returned', async () => {
  const permits = new Permits({ size: 1 });
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

test('Permits for database requests: the limit grows: several waiting requests are sent at once', async () => {
  const bound = { size: 1 };
  const permits = new Permits(bound);
  const ends: Array<() => void> = [];
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

test('Permits for database requests: a permit is returned without a request: the next request is admitted', async () => {
  const recorded: number[] = [];
  const permits = new Permits({ size: 1, record: (began) => void recorded.push(began) });
  expect(permits.enter()).toBeUndefined();
  const next = permits.enter();
  permits.cancel();
  await next;
  expect({ inUse: permits.inUse, waiting: permits.waiting }).toEqual({ inUse: 1, waiting: 0 });
  expect(recorded).toEqual([]);
});

test.each([
  ['no error', undefined, false],
  ['the database is unavailable', new MillraceError('unavailable'), true],
  ['the database refuses the content', new MillraceError('rejected'), false],
  ['a defect', new TypeError('a defect'), false],
])(
  'Permits for database requests: a request ends with %s: recorded with a flag for failure of the database: %#',
  (_, error, failed) => {
    const recorded: Array<[began: number, failed: boolean]> = [];
    const permits = new Permits({
      size: 1,
      record: (began, isFailed) => void recorded.push([began, isFailed]),
    });
    void permits.enter();
    permits.leave(17, error);
    expect(recorded).toEqual([[17, failed]]);
  },
);
