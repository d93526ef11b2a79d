import { expect, test } from '@jest/globals';
import { findAssets } from '../../../../../api/features/assets/routes/searching.ts';
import { startTestTree } from '../../../../support/features/assets/tree.ts';

test('Search of assets: words in any order and case: paths with all of them, those near the root first', async () => {
  const { tree, create } = await startTestTree(() => 0);
  await create({
    'Plant 1': 'site',
    'Plant 1/Hall A': 'area',
    'Plant 1/Hall A/Line Hall': 'line',
    'Plant 2': 'site',
  });
  const find = async (text: string, limit: number = 9) =>
    (await findAssets(tree, text, limit)).map(({ id }) => tree.path(id));
  expect(await find('hall PLANT')).toEqual(['Plant 1/Hall A', 'Plant 1/Hall A/Line Hall']);
  expect(await find('plant', 2)).toEqual(['Plant 1', 'Plant 2']);
  expect(await find('line')).toEqual(['Plant 1/Hall A/Line Hall']);
  expect(await find('nowhere')).toEqual([]);
});
