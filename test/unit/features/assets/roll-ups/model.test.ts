import { expect, test } from '@jest/globals';
import { DAY_MS } from '../../../../../schema/rules.ts';
import { checkRollUps } from '../../../../support/features/assets/roll-up-model.ts';
import type { Mistake } from '../../../../support/features/assets/roll-up-world.ts';

const RUNS = 300;

/** The model must notice each of them. */
const MISTAKES: Record<string, Mistake> = {
  'packers write no notices': { store: () => ({ writeDue: async () => {} }) },
  'edits make nothing due': { ignoresEdits: true },
  'an hour without samples keeps its roll-up': {
    store: (rollUps) => ({
      writeDays: async (asset, type, days) => {
        const kept = new Map(days);
        for (const [day, { stamp, hours }] of days) {
          const before = (await rollUps.days(asset, type, day, day + DAY_MS)).get(day)?.hours ?? [];
          kept.set(day, { stamp, hours: new Map([...before, ...hours]) });
        }
        return rollUps.writeDays(asset, type, kept);
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
