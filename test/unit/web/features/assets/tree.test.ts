import { expect, test } from '@jest/globals';
import { Problem } from '../../../../../web/api/request.ts';
import { assetHref, parentOf, stepsOf } from '../../../../../web/features/assets/address.ts';
import type { Asset, AssetMember, Level } from '../../../../../web/features/assets/api.ts';
import { typesOf } from '../../../../../web/features/assets/condition.ts';
import { accepts } from '../../../../../web/features/assets/drag.ts';
import { levelsUnder } from '../../../../../web/features/assets/levels.ts';
import { canHold } from '../../../../../web/features/assets/move-dialogs.tsx';
import { placeOf } from '../../../../../web/features/assets/panel.tsx';
import { TOP } from '../../../../../web/features/assets/target-field.tsx';
import { placesOf } from '../../../../../web/features/assets/wall-places.tsx';
import { editWords } from '../../../../../web/features/assets/words.ts';

test('Address of an asset: names with spaces, ampersands and umlauts: the page reads the same path', () => {
  const path = 'Plant 1/Hall & Öfen+2/50 %';
  const { pathname, searchParams } = new URL(assetHref(path), 'http://localhost');
  expect([pathname, searchParams.get('path')]).toEqual(['/assets', path]);
  expect(assetHref(null)).toBe('/assets');
});

test('Path of an asset: ancestors: each has its own path, and a root has no parent', () => {
  expect(stepsOf('P/H/L')).toEqual([
    { name: 'P', path: 'P' },
    { name: 'H', path: 'P/H' },
    { name: 'L', path: 'P/H/L' },
  ]);
  expect(['P/H/L', 'P'].map(parentOf)).toEqual(['P/H', null]);
});

test('Levels of a child: below a parent: deeper ones, the next first; a root: a site unless another level is chosen', () => {
  expect(levelsUnder(null)).toEqual(['site', 'enterprise', 'area', 'line', 'cell', 'machine']);
  expect(levelsUnder('line')).toEqual(['cell', 'machine']);
  expect(levelsUnder('machine')).toEqual([]);
});

test('New parent of an asset: choices: on a higher level, and not its parent already', () => {
  const asset = { asset_id: 'a', level: 'line' as const, parent_id: 'p' };
  const parent = (asset_id: string, level: 'area' | 'cell' | 'line') => ({
    asset_id,
    level,
    name: 'x',
    path: 'x',
    parent_id: null,
    children: 0,
    members: 0,
  });
  expect(canHold(parent('b', 'area'), asset)).toBe(true);
  expect(canHold(parent('p', 'area'), asset)).toBe(false);
  expect(canHold(parent('b', 'line'), asset)).toBe(false);
  expect(canHold(parent('b', 'cell'), asset)).toBe(false);
});

test('Drag: drop targets: for an asset a higher level or the top, for a member any asset but its own', () => {
  const place = (asset_id: string, level: Level) => ({ asset: { asset_id, level, path: 'P' }, label: 'P' });
  const line = { kind: 'asset', asset: { asset_id: 'l', level: 'line', parent_id: 'p' } as Asset } as const;
  expect(accepts(line, place('h', 'area'))).toBe(true);
  expect(accepts(line, place('m', 'line'))).toBe(false);
  expect(accepts(line, TOP)).toBe(true);
  expect(accepts({ ...line, asset: { ...line.asset, parent_id: null } }, TOP)).toBe(false);
  const member = { kind: 'member', member: { asset_id: 'h' } as AssetMember } as const;
  expect(accepts(member, place('m', 'machine'))).toBe(true);
  expect(accepts(member, place('h', 'area'))).toBe(false);
  expect(accepts(member, TOP)).toBe(false);
});

test('Types of sensors: order and unit: the most frequent first; a type with different units has no unit', () => {
  const sensors = [
    { type: 'pulse', unit: 'beat/min' },
    { type: null, unit: 'm' },
    { type: 'temperature', unit: 'Cel' },
    { type: 'temperature', unit: 'K' },
  ];
  expect(typesOf(sensors)).toEqual([
    { type: 'temperature', unit: null },
    { type: 'pulse', unit: 'beat/min' },
  ]);
});

test('Place of a sensor: its device has a place too: its own counts; an earlier one does not', () => {
  const place = (sensor_id: string | null, path: string, to: string | null = null) => ({
    sensor_id,
    sensor: sensor_id,
    asset_id: path,
    path,
    from: null,
    to,
  });
  const places = [place(null, 'old', '2026-01-01T00:00:00Z'), place(null, 'hall'), place('a', 'line')];
  const answer = { device_id: 'd', places };
  expect(placeOf(answer, null)?.path).toBe('hall');
  expect(placeOf(answer, 'a')?.path).toBe('line');
  expect(placeOf(answer, 'b')?.path).toBe('hall');
  expect(placeOf({ device_id: 'd', places: places.slice(0, 1) }, null)).toBeNull();
});

test.each([
  ['asset_exists', 409, 'This name is taken'],
  ['asset_in_use', 409, 'The asset is not empty'],
  ['asset_circle', 409, 'An asset cannot be below itself'],
  ['asset_level', 409, 'The level does not fit'],
  ['in_future', 400, 'This is not accepted'],
  ['unavailable', 503, 'The database does not answer'],
])('Refused edit of the tree, code %s: in words: %s', (code, status, title) => {
  expect(editWords(new Problem({ title: 'refused', detail: 'why', code, status })).title).toBe(title);
});

test('Places of the fleet: a sensor has no place of its own: it is where its device is; one object for each path', () => {
  const member = (device_id: string, sensor_id: string | null, path: string) => ({
    device_id,
    device: null,
    sensor_id,
    sensor: null,
    own_sensors: [],
    asset_id: path,
    path,
    levels: ['site' as const],
  });
  const placeOf = placesOf({
    items: [member('a', null, 'P'), member('a', 'own', 'Q'), member('b', 'own', 'P')],
  });
  expect(placeOf('a', 'x')).toEqual({ path: 'P', levels: ['site'] });
  expect(placeOf('a', 'own')?.path).toBe('Q');
  expect(placeOf('b', 'own')).toBe(placeOf('a', 'x'));
  expect(placeOf('b', 'x')).toBe(null);
});
