import { expect, test } from '@jest/globals';
import { checkRollUps } from '../../../../support/features/assets/roll-up-model.ts';

test('Roll-ups: random late samples, repeated packing, moves and killed processes: equal to brute force over samples', async () => {
  expect(await checkRollUps(300)).toEqual([]);
});
