import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createBudget } from '../../../api/ingest/budget.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));
const OVERHEAD = 2048;

test('messages enter in order, within the bound; one larger than the bound enters alone', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 3000, max: 20_000 }),
      fc.array(fc.record({ bytes: fc.nat(25_000), turns: fc.nat(3), fails: fc.boolean() }), {
        maxLength: 25,
      }),
      async (most, messages) => {
        const budget = createBudget(most);
        /** @type {number[]} */
        const begun = [];
        const inside = new Set();
        const outcomes = await Promise.allSettled(
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

test('work begins at once where there is room', () => {
  const budget = createBudget(10 * OVERHEAD);
  let begun = false;
  void budget.run(100, async () => {
    begun = true;
  });
  expect(begun).toBe(true);
});

test('who comes while others are let in does not overtake them', async () => {
  const budget = createBudget(OVERHEAD);
  /** @type {string[]} */
  const begun = [];
  /** @type {Promise<void>[]} */
  const more = [];
  await budget
    .run(0, async () => {
      more.push(budget.run(0, async () => void begun.push('waited')));
    })
    .then(() => more.push(budget.run(0, async () => void begun.push('came later'))));
  await Promise.all(more);
  expect(begun).toEqual(['waited', 'came later']);
});
