import { expect, jest, test } from '@jest/globals';
import { checkMirror } from '../../../support/features/graph/mirror-case.ts';

const KILLS = 10;

test('Graph: 1,000 random edits, the mirror is killed ten times: all ten queries answer as the tables do', async () => {
  const result = await checkMirror({ edits: 1000, kills: KILLS, seed: jest.getSeed() });
  expect(result.killed).toEqual(Array(KILLS).fill('halfway'));
  expect(result.differences).toEqual([]);
}, 1_800_000);
