import { expect, test } from '@jest/globals';
import { ASSET_LEVELS } from '../../../../api/features/assets/tree/levels.ts';
import { LEVELS } from '../../../../web/features/assets/levels.ts';

test('Levels of assets: dashboard: those of the API, in the same order', () => {
  expect(LEVELS).toEqual(ASSET_LEVELS);
});
