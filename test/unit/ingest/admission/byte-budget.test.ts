import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ByteBudget } from '../../../../api/ingest/admission/byte-budget.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));
const OVERHEAD = 2048;

/** More turns of the event loop than 25 messages of three turns take, one after the other. */
const MAX_TURNS = 200;

/**
 * Waits until all messages have ended. A message that never begins has no timer, so nothing else would end the wait for it.
 */
async function outcomesOf(messages: Promise<void>[]): Promise<PromiseSettledResult<void>[]> {
  const outcomes = Promise.allSettled(messages);
  let hasEnded = false;
  void outcomes.then(() => {
    hasEnded = true;
  });
  for (let turns = 0; !hasEnded; turns++) {
    if (turns === MAX_TURNS) throw new Error('a message never ends');
    await turn();
  }
  return outcomes;
}

test('Byte budget of ingest: messages exceed the budget: they begin in order of arrival, and a message larger than the whole budget is handled alone', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 3000, max: 20_000 }),
      fc.array(fc.record({ bytes: fc.nat(25_000), turns: fc.nat(3), fails: fc.boolean() }), {
        maxLength: 25,
      }),
      async (most, messages) => {
        const budget = new ByteBudget(most);
        const begun: number[] = [];
        const inside = new Set();
        const outcomes = await outcomesOf(
          messages.map(({ bytes, turns, fails }, at) =>
            budget.run(bytes, async () => {
              begun.push(at);
              inside.add(at);
              expect(budget.used <= most || inside.size === 1).toBe(true);
              for (let left = turns; left > 0; left--) await turn();
              inside.delete(at);
              if (fails) throw new Error('given up');
            }),
          ),
        );
        expect(begun).toEqual(messages.map((_, at) => at));
        expect(outcomes.map(({ status }) => status === 'rejected')).toEqual(
          messages.map(({ fails }) => fails),
        );
        expect({ used: budget.used, waiting: budget.waiting }).toEqual({ used: 0, waiting: 0 });
      },
    ),
    { numRuns: 60 },
  );
});

test('Byte budget of ingest: a waiting message is aborted: it is removed, and smaller messages behind it begin', async () => {
  const budget = new ByteBudget(3 * OVERHEAD);
  const gone = new AbortController();
  const begun: string[] = [];
  let finish: () => void = () => {};
  const first = budget.run(0, () => new Promise((resolve) => (finish = () => resolve(undefined))));
  const large = budget.run(3 * OVERHEAD, async () => void begun.push('large'), gone.signal);
  const small = budget.run(0, async () => void begun.push('small'));
  expect(budget.waiting).toBe(2);
  gone.abort();
  await expect(large).rejects.toMatchObject({ code: 'unavailable' });
  await small;
  expect(begun).toEqual(['small']);
  finish();
  await first;
  expect({ used: budget.used, waiting: budget.waiting }).toEqual({ used: 0, waiting: 0 });
});

test('Byte budget of ingest: a message is aborted after its handler has begun: the handler finishes', async () => {
  const budget = new ByteBudget(OVERHEAD);
  const gone = new AbortController();
  const begun = budget.run(0, async () => turn().then(() => 'finished'), gone.signal);
  const waited = budget.run(0, async () => turn().then(() => 'finished'), gone.signal);
  await begun;
  gone.abort();
  expect(await Promise.all([begun, waited])).toEqual(['finished', 'finished']);
});

test('Byte budget of ingest: the last waiting message begins: the onFree listeners are called', async () => {
  const budget = new ByteBudget(OVERHEAD);
  let calls = 0;
  budget.onFree(() => calls++);
  const messages = [1, 2, 3].map(() => budget.run(0, turn));
  expect(budget.isFull).toBe(true);
  await messages[0];
  expect({ full: budget.isFull, calls }).toEqual({ full: true, calls: 0 });
  await Promise.all(messages);
  expect(budget.isFull).toBe(false);
  expect(calls).toBeGreaterThan(0);
});
