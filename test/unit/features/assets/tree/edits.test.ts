import { beforeEach, expect, test } from '@jest/globals';
import { HOUR_MS } from '../../../../../schema/rules.ts';
import { device, EDITOR, startTestTree, type TestTree } from '../../../../support/features/assets/tree.ts';

const HOUR = Date.UTC(2026, 10, 24, 12);
let now = HOUR;
let assets: TestTree;

beforeEach(async () => {
  now = HOUR + 20 * 60_000;
  assets = await startTestTree(() => now);
  await assets.create({
    'Plant 1': 'site',
    'Plant 1/Hall 1': 'area',
    'Plant 1/Hall 2': 'area',
    'Plant 1/Hall 1/Press': 'machine',
  });
});

const names = (path: string | null, at?: number) =>
  [...assets.tree.children(path === null ? null : assets.idOf(path), at)].map(({ name }) => name).sort();

test('New asset: its parent has a child of this name: asset_exists, and a sibling elsewhere may have it', async () => {
  await expect(assets.create({ 'Plant 1/Hall 1': 'area' })).rejects.toMatchObject({ code: 'asset_exists' });
  await assets.create({ 'Plant 1/Hall 2/Press': 'line' });
  await expect(assets.create({ 'Plant 1': 'enterprise' })).rejects.toMatchObject({ code: 'asset_exists' });
});

test('New asset: its name has a slash, white space at an end, or more than 128 bytes: malformed', async () => {
  for (const name of ['a/b', ' a', 'a ', 'ä'.repeat(65), '']) {
    const created = assets.edits.create(EDITOR, { name, level: 'site', parent: null });
    await expect(created).rejects.toMatchObject({ code: 'malformed' });
  }
});

test('New asset: its level is that of its parent or above: asset_level', async () => {
  for (const level of ['area', 'site'] as const) {
    await expect(assets.create({ 'Plant 1/Hall 1/Line': level })).rejects.toMatchObject({
      code: 'asset_level',
    });
  }
});

test('New asset: its parent does not exist or is retired: not_found', async () => {
  const parent = assets.idOf('Plant 1/Hall 2');
  await assets.edits.retire(EDITOR, parent);
  for (const id of [parent, '0b61a3c4-8a0e-4a43-9d57-7b2c8f0f6c11']) {
    const created = assets.edits.create(EDITOR, { name: 'Line', level: 'line', parent: id });
    await expect(created).rejects.toMatchObject({ code: 'not_found' });
  }
});

test('Moved asset: from a past hour: it is below the new parent from then on, and below the old one before', async () => {
  const since = HOUR - 24 * HOUR_MS;
  await assets.place('pump/flow', 'Plant 1/Hall 1/Press');
  await assets.move('Plant 1/Hall 1/Press', 'Plant 1/Hall 2', since + 10 * 60_000);
  expect(assets.ancestors('pump/flow', since - HOUR_MS)).toEqual([
    'Plant 1/Hall 2/Press',
    'Plant 1/Hall 1',
    'Plant 1',
  ]);
  expect(assets.ancestors('pump/flow', since)).toEqual(['Plant 1/Hall 2/Press', 'Plant 1/Hall 2', 'Plant 1']);
  expect(names('Plant 1/Hall 1', since - 1)).toEqual(['Press']);
  expect(names('Plant 1/Hall 1', since)).toEqual([]);
  expect(names('Plant 1/Hall 2')).toEqual(['Press']);
});

test('Moved asset: without a time: the present hour belongs to the new parent', async () => {
  await assets.move('Plant 1/Hall 1/Press', 'Plant 1/Hall 2');
  expect(names('Plant 1/Hall 1', HOUR - 1)).toEqual(['Press']);
  expect(names('Plant 1/Hall 1', HOUR)).toEqual([]);
});

test('Moved asset: below itself, or below one of its descendants: asset_circle', async () => {
  for (const parent of ['Plant 1', 'Plant 1/Hall 1', 'Plant 1/Hall 1/Press']) {
    await expect(assets.move('Plant 1', parent)).rejects.toMatchObject({ code: 'asset_circle' });
  }
});

test('Moved asset: the new parent is too deep, or has a child of this name: refused', async () => {
  await assets.create({
    'Plant 1/Hall 2/Press': 'machine',
    'Plant 2': 'site',
    'Plant 1/Hall 1/Line': 'line',
  });
  await expect(assets.move('Plant 1/Hall 1/Press', 'Plant 1/Hall 2')).rejects.toMatchObject({
    code: 'asset_exists',
  });
  await expect(assets.move('Plant 1/Hall 2', 'Plant 1/Hall 1/Line')).rejects.toMatchObject({
    code: 'asset_level',
  });
  await assets.move('Plant 1/Hall 2', 'Plant 2');
  await assets.move('Plant 2/Hall 2', null);
  expect(names(null)).toEqual(['Hall 2', 'Plant 1', 'Plant 2']);
});

test('Moved or placed: from a time after now: in_future', async () => {
  const since = now + 1;
  await expect(assets.move('Plant 1/Hall 2', null, since)).rejects.toMatchObject({ code: 'in_future' });
  await expect(assets.place('pump', 'Plant 1', since)).rejects.toMatchObject({ code: 'in_future' });
});

test('Renamed asset: now and in the past: the new path, then the old one', async () => {
  const id = assets.idOf('Plant 1/Hall 1');
  await assets.edits.change(EDITOR, id, { name: 'North' });
  expect(assets.tree.byPath('Plant 1/North/Press')?.name).toBe('Press');
  expect(assets.tree.byPath('Plant 1/Hall 1')).toBeNull();
  expect(assets.tree.asset(id, HOUR - 1)?.name).toBe('Hall 1');
  await expect(assets.edits.change(EDITOR, id, { name: 'Hall 2' })).rejects.toMatchObject({
    code: 'asset_exists',
  });
});

test('Changed level: outside those of its parents and children, also past ones: refused', async () => {
  const hall = assets.idOf('Plant 1/Hall 1');
  await assets.move('Plant 1/Hall 1/Press', 'Plant 1/Hall 2');
  for (const level of ['site', 'machine'] as const) {
    await expect(assets.edits.change(EDITOR, hall, { level })).rejects.toMatchObject({ code: 'asset_level' });
  }
  await assets.edits.change(EDITOR, hall, { level: 'line' });
  expect(assets.tree.asset(hall)?.level).toBe('line');
});

test('Retired asset: it has children or members: asset_in_use', async () => {
  await assets.place('pump', 'Plant 1/Hall 2');
  for (const path of ['Plant 1/Hall 1', 'Plant 1/Hall 2']) {
    await expect(assets.edits.retire(EDITOR, assets.idOf(path))).rejects.toMatchObject({
      code: 'asset_in_use',
    });
  }
});

test('Retired asset: it is empty: it stays in the past, and its name is free', async () => {
  const id = assets.idOf('Plant 1/Hall 2');
  await assets.edits.retire(EDITOR, id);
  expect(names('Plant 1')).toEqual(['Hall 1']);
  expect(names('Plant 1', HOUR - 1)).toEqual(['Hall 1', 'Hall 2']);
  await expect(assets.edits.retire(EDITOR, id)).rejects.toMatchObject({ code: 'not_found' });
  await assets.create({ 'Plant 1/Hall 2': 'area' });
  expect(assets.idOf('Plant 1/Hall 2')).not.toBe(id);
});

test('Placed device: first and later place: the first counts for all time, a later one from the present hour on', async () => {
  await assets.place('pump', 'Plant 1/Hall 1');
  await assets.place('pump', 'Plant 1/Hall 2');
  expect(assets.ancestors('pump/flow', 0)).toEqual(['Plant 1/Hall 1', 'Plant 1']);
  expect(assets.ancestors('pump/flow', HOUR - HOUR_MS)).toEqual(['Plant 1/Hall 1', 'Plant 1']);
  expect(assets.ancestors('pump/flow', HOUR)).toEqual(['Plant 1/Hall 2', 'Plant 1']);
});

test('Placed sensor: its device has a place too: its own counts until it is removed', async () => {
  await assets.place('pump', 'Plant 1/Hall 1');
  await assets.place('pump/flow', 'Plant 1/Hall 2', HOUR - 2 * HOUR_MS);
  const hall = assets.idOf('Plant 1/Hall 2');
  const range = [HOUR - 9 * HOUR_MS, HOUR + HOUR_MS] as const;
  expect([...assets.tree.membersBetween(hall, ...range)]).toMatchObject([
    { from: HOUR - 2 * HOUR_MS, to: HOUR + HOUR_MS },
  ]);
  await assets.place('pump/flow', null);
  expect(assets.ancestors('pump/flow', HOUR - 3 * HOUR_MS)[0]).toBe('Plant 1/Hall 1');
  expect(assets.ancestors('pump/flow', HOUR - HOUR_MS)[0]).toBe('Plant 1/Hall 2');
  expect(assets.ancestors('pump/flow', HOUR)[0]).toBe('Plant 1/Hall 1');
  expect(assets.ancestors('pump/heat', HOUR - HOUR_MS)[0]).toBe('Plant 1/Hall 1');
  expect([...assets.tree.membersBetween(hall, ...range)]).toMatchObject([
    { from: HOUR - 2 * HOUR_MS, to: HOUR },
  ]);
});

test('Removed device: it has no place: not_found', async () => {
  await expect(assets.place('pump', null)).rejects.toMatchObject({ code: 'not_found' });
  await assets.place('pump', 'Plant 1');
  await assets.place('pump', null);
  await expect(assets.place('pump', null)).rejects.toMatchObject({ code: 'not_found' });
});

test('Retired device: it and its sensors have places: they leave their assets, which are then empty', async () => {
  await assets.place('pump', 'Plant 1/Hall 2');
  await assets.place('pump/flow', 'Plant 1/Hall 1/Press');
  await assets.edits.retireDevice(device('pump'));
  await assets.edits.retireDevice(device('pump'));
  expect(assets.ancestors('pump/flow', HOUR)).toEqual([]);
  expect(assets.ancestors('pump/flow', HOUR - 1)[0]).toBe('Plant 1/Hall 1/Press');
  await assets.edits.retire(EDITOR, assets.idOf('Plant 1/Hall 2'));
});
