import { expect, test } from '@jest/globals';
import { checkRollUps } from '../../support/features/assets/roll-up-model.ts';

/** The unit tests run only a few of them. */
const RUNS = 2000;

test(`Roll-ups: ${RUNS} random histories: equal to brute force over samples`, async () => {
  expect(await checkRollUps(RUNS)).toEqual([]);
}, 600_000);
