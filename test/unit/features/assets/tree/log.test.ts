import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { Change } from '../../../../../api/features/assets/tree/change.ts';
import { MillraceError } from '../../../../../common/errors.ts';
import { createTestTree, EDITOR } from '../../../../support/features/assets/tree.ts';
import { createMemoryStore, readMemoryTables } from '../../../../support/memory-store/index.ts';

const clock = () => Date.UTC(2026, 10, 24, 12);

type Around = NonNullable<NonNullable<Parameters<typeof createMemoryStore>[0]>['around']>;

/** Two processes with one database. */
async function startTwo(around: Around = (_request, run) => run()) {
  const { store } = await createMemoryStore({ clock, tables: await readMemoryTables(), around });
  return [createTestTree({ store, clock }), createTestTree({ store, clock })] as const;
}

const roots = ({ tree }: { tree: ReturnType<typeof createTestTree>['tree'] }) =>
  [...tree.children(null)].map(({ name }) => name).sort();

test('Log of assets: two processes edit 40 times at once: both know all edits, and each name exists once', async () => {
  const [one, two] = await startTwo();
  const names = Array.from({ length: 20 }, (_, index) => `Plant ${index}`);
  const results = await Promise.allSettled(
    names.flatMap((name) => [one, two].map((process) => process.create({ [name]: 'site' }))),
  );
  const refused = results.filter(({ status }) => status === 'rejected');
  expect(refused.map((result) => (result as PromiseRejectedResult).reason.code)).toEqual(
    names.map(() => 'asset_exists'),
  );
  await Promise.all([one.log.refresh(), two.log.refresh()]);
  expect(roots(one)).toEqual([...names].sort());
  expect([...two.tree.children(null)].map(({ id }) => id).sort()).toEqual(
    [...one.tree.children(null)].map(({ id }) => id).sort(),
  );
  expect([one.tree.version, two.tree.version]).toEqual([20, 20]);
});

test('Log of assets: 600 edits, more than two buckets hold: another process reads all of them', async () => {
  const [one, two] = await startTwo();
  for (let index = 0; index < 600; index++) await one.create({ [`Plant ${index}`]: 'site' });
  await two.log.refresh();
  expect([two.tree.version, roots(two).length]).toEqual([600, 600]);
});

/** A plan that creates sites, as far as they are missing. */
const planOf =
  (count: number) =>
  (tree: ReturnType<typeof createTestTree>['tree']): Change[] =>
    Array.from({ length: count }, (_, index) => `Plant ${index}`)
      .filter((name) => tree.childByName(null, name) === null)
      .map((name) => ({ do: 'create', asset: randomUUID(), name, level: 'site', parent: null }));

test('Log of assets: the process dies in a bulk edit: a whole number of rows is stored, and a repeat stores the rest', async () => {
  let left = 2;
  const [one, two] = await startTwo(async (request, run) => {
    const isEdit = request.table === 'asset_change' && request.kind === 'insert';
    if (isEdit && left-- === 0) throw new MillraceError('unavailable');
    return run();
  });
  await expect(one.log.edit(EDITOR, planOf(1700))).rejects.toMatchObject({ code: 'unavailable' });
  await two.log.refresh();
  expect(roots(two)).toHaveLength(1000);
  const stored = await two.log.edit(EDITOR, planOf(1700));
  expect(stored).toHaveLength(700);
  expect(roots(two)).toHaveLength(1700);
});

test('Log of assets: the database stores an edit, and its answer is lost: the driver asks again, and the edit counts as stored', async () => {
  const [one, two] = await startTwo(async (request, run) => {
    const isEdit = request.table === 'asset_change' && request.kind === 'insert';
    // The driver sends the request to the next node when the first does not answer.
    if (isEdit) await run();
    return run();
  });
  await one.create({ 'Plant 1': 'site' });
  await two.log.refresh();
  expect([one.tree.version, two.tree.version, roots(two)]).toEqual([1, 1, ['Plant 1']]);
});

test('Log of assets: another edit comes between plan and storing: the plan is checked again', async () => {
  let other: (() => Promise<void>) | null = null;
  const [one, two] = await startTwo(async (request, run) => {
    const before = other;
    if (request.kind === 'insert' && before) {
      other = null;
      await before();
    }
    return run();
  });
  await one.create({ 'Plant 1': 'site' });
  await two.log.refresh();
  other = () => two.edits.retire(EDITOR, two.idOf('Plant 1'));
  await expect(one.create({ 'Plant 1/Hall': 'area' })).rejects.toMatchObject({ code: 'not_found' });
});
