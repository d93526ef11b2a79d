import { describe, expect, test } from '@jest/globals';
import { check } from '../../model/check.ts';
import { BRIEF, CLAUSES } from '../../model/clauses.ts';

/** The others take longer, and run with `npm run test:model`. */
const QUICK = CLAUSES.filter(({ system }) => system.small && system.passes === 1);

describe('History rule', () => {
  test('History model: one pass and four ticks, all orders of steps: no reader misses an acknowledged sample', async () => {
    expect(await check(null, { ...BRIEF, small: true })).toMatchObject({ counterexample: null });
  });

  test.each(QUICK)(
    'History model: without the clause $name: a reader misses a sample',
    async ({ name, system }) => {
      const { counterexample } = await check(name, system);
      expect(counterexample?.at(-1)).toMatchObject({ actor: 'reader', text: 'shows' });
    },
  );
});
