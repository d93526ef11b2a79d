import { expect, test } from '@jest/globals';
import { checkRollUps } from '../../../../support/features/assets/roll-up-model.ts';
import type { Mistake } from '../../../../support/features/assets/roll-up-world.ts';

const RUNS = 300;

/** The model must notice each of them. */
const MISTAKES: Record<string, Mistake> = {
  'packers write no notices': { store: () => ({ writeDue: async () => {} }) },
  'edits make nothing due': { ignoresEdits: true },
  'an hour without samples keeps its roll-up': {
    store: (rollUps) => ({
      writeHours: (asset, type, days) => {
        for (const { hours } of days.values())
          for (const [hour, { rollUp }] of hours) if (!rollUp) hours.delete(hour);
        return rollUps.writeHours(asset, type, days);
      },
    }),
  },
};

test('Roll-ups: random late samples, repeated packing, moves and killed processes: equal to brute force over samples', async () => {
  expect(await checkRollUps(RUNS)).toEqual([]);
});

test.each(Object.entries(MISTAKES))(
  'Roll-ups: mistake, %s: the model finds a difference',
  async (_, mistake) => {
    expect(await checkRollUps(RUNS, mistake)).not.toEqual([]);
  },
);
