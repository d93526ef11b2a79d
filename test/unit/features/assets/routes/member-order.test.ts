import { expect, test } from '@jest/globals';
import { keyOfMember, MemberOrder } from '../../../../../api/features/assets/routes/member-order.ts';
import { NOW, type PlacedMember } from '../../../../../api/features/assets/tree/index.ts';
import { startTestTree } from '../../../../support/features/assets/tree.ts';

test('Members of an asset: read page by page, with an edit in between: in the order of their ids, as the tree is then', async () => {
  const { tree, create, place, idOf } = await startTestTree(() => 3_600_000);
  await create({ a: 'site', 'a/b': 'area', c: 'site' });
  for (let number = 0; number < 40; number++) await place(`device-${number}`, number % 2 ? 'a/b' : 'a');
  await place('device-1/s', 'a');
  const order = new MemberOrder(tree);
  const read = async (asset: string | null, after: string | null, limit: number) =>
    [...(await order.page(asset, NOW, after, limit))].map(keyOfMember);
  const keys = (items: Iterable<PlacedMember>) => [...items].map(keyOfMember).sort();
  const all = keys(tree.members(idOf('a')));
  expect(all).toHaveLength(41);
  expect(await read(idOf('a'), null, 100)).toEqual(all);
  expect(await read(idOf('a'), all[9] ?? '', 5)).toEqual(all.slice(10, 16));
  expect(await read(idOf('a/b'), null, 100)).toEqual(keys(tree.members(idOf('a/b'))));
  expect(await read(null, null, 100)).toEqual(all);
  await place('device-3', 'c');
  const left = keys(tree.members(idOf('a')));
  expect(left).toHaveLength(40);
  expect(await read(idOf('a'), left[9] ?? '', 100)).toEqual(left.slice(10));
  expect(keys(await order.page(idOf('a'), 0, null, 100))).toEqual(keys(tree.members(idOf('a'), 0)));
});

test('Members of an asset: a member moves while the tree is read: it is listed once, and the list does not end early', async () => {
  const { tree, create, place, idOf } = await startTestTree(() => 3_600_000);
  await create({ a: 'site', b: 'site' });
  for (let number = 0; number < 6; number++) await place(`device-${number}`, 'a');
  const all = [...tree.members(null)];
  const order = new MemberOrder({
    version: 1,
    members: function* () {
      yield* all;
      yield* all.slice(2, 4).map((item) => ({ ...item, asset: idOf('b') }));
    },
  });
  const keys: string[] = [];
  for (let after: string | null = null, more = true; more; ) {
    const page: string[] = [...(await order.page(null, NOW, after, 2))].map(keyOfMember);
    keys.push(...page.slice(0, 2));
    more = page.length > 2;
    after = page[1] ?? null;
  }
  expect(keys).toEqual(all.map(keyOfMember).sort());
});
