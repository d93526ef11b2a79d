import { beforeEach, expect, test } from '@jest/globals';
import { planSites } from '../../../../../api/features/assets/tree/site-assets.ts';
import { HOUR_MS } from '../../../../../schema/rules.ts';
import { useCleanUps } from '../../../../support/clean-ups.ts';
import { createTestTree, device, EDITOR, startTestTree } from '../../../../support/features/assets/tree.ts';
import { startMemoryPipeline } from '../../../../support/system/memory-pipeline.ts';

const HOUR = Date.UTC(2026, 10, 24, 12);
let now = HOUR;
let assets: Awaited<ReturnType<typeof startTestTree>>;
const afterwards = useCleanUps();

beforeEach(async () => {
  now = HOUR;
  assets = await startTestTree(() => now);
});

async function register(...devices: Array<[name: string, site: string | null]>) {
  for (const [name, site] of devices) assets.sites.note({ id: device(name).id, name, site });
  await assets.sites.placeWaiting();
}

test('Site of a device: it is a path: its assets are created once with levels from site on, and the device is there always', async () => {
  await register(['pump', 'Plant 1/Hall 2/Line 3'], ['fan', 'Plant 1/Hall 2'], ['lamp', null]);
  await register(['saw', ' Plant 1 / Hall 2/']);
  expect(assets.ancestors('pump/flow', 0)).toEqual(['Plant 1/Hall 2/Line 3', 'Plant 1/Hall 2', 'Plant 1']);
  expect(assets.tree.lineage(assets.idOf('Plant 1/Hall 2/Line 3')).map(({ level }) => level)).toEqual([
    'line',
    'area',
    'site',
  ]);
  expect(assets.ancestors('fan/t', HOUR)).toEqual(assets.ancestors('saw/t', HOUR));
  expect(assets.ancestors('lamp/t', HOUR)).toEqual([]);
  expect(assets.tree.size).toEqual({ assets: 3, devices: 3 });
});

test('Site of a device: the tree is full: no assets are created, and the device is at the nearest one that exists', async () => {
  await register(['pump', 'Plant 1/Hall 2']);
  const site = (name: string, text: string) => ({ id: device(name).id, name, site: text });
  const devices = [site('fan', 'Plant 1/Hall 3/Line 4'), site('saw', 'Plant 5')];
  expect(planSites(assets.tree, devices, HOUR, 3)).toMatchObject([
    { do: 'create', name: 'Hall 3' },
    { do: 'place', name: 'fan' },
  ]);
  expect(planSites(assets.tree, devices, HOUR, 2)).toMatchObject([
    { do: 'place', name: 'fan', asset: assets.idOf('Plant 1') },
  ]);
});

test('Site of a device: it has more names than levels: the last level takes the device', async () => {
  await register(['pump', 'a/b/c/d/e/f/g'], ['fan', '//']);
  expect(assets.ancestors('pump/flow', HOUR)[0]).toBe('a/b/c/d/e');
  expect(assets.ancestors('fan/t', HOUR)).toEqual([]);
});

test('Site of a device: 1,200 devices register at once: the assets exist once, in rows of 500 changes', async () => {
  await register(
    ...Array.from({ length: 1200 }, (_, index): [string, string] => [`d${index}`, `Plant ${index % 3}`]),
  );
  expect(assets.tree.size).toEqual({ assets: 3, devices: 1200 });
  expect(assets.tree.version).toBe(3);
});

test('Site of a device: an operator renamed and moved the asset of the site: further devices of the site go there', async () => {
  await register(['pump', 'Plant 1']);
  const id = assets.idOf('Plant 1');
  await assets.create({ ACME: 'enterprise' });
  await assets.edits.change(EDITOR, id, { name: 'Mill 1' });
  await assets.move('Mill 1', 'ACME');
  await register(['fan', 'Plant 1'], ['saw', 'Plant 1/Hall 1']);
  expect(assets.ancestors('fan/t', HOUR)).toEqual(['ACME/Mill 1', 'ACME']);
  expect(assets.ancestors('saw/t', HOUR)[0]).toBe('ACME/Mill 1/Hall 1');
});

test('Site of a device: an operator placed the device: it stays where it is', async () => {
  await assets.create({ 'Plant 2': 'site' });
  await assets.place('pump', 'Plant 2');
  await register(['pump', 'Plant 1']);
  expect(assets.ancestors('pump/flow', HOUR)).toEqual(['Plant 2']);
  expect(assets.tree.byPath('Plant 1')).toBeNull();
  await assets.place('pump', null);
  await register(['pump', 'Plant 1']);
  expect(assets.ancestors('pump/flow', HOUR)).toEqual([]);
});

test('Site of a device: the site changes: the device moves from the present hour on', async () => {
  await register(['pump', 'Plant 1']);
  await register(['pump', 'Plant 2']);
  expect(assets.ancestors('pump/flow', HOUR - HOUR_MS)).toEqual(['Plant 1']);
  expect(assets.ancestors('pump/flow', HOUR)).toEqual(['Plant 2']);
});

test('Site of a device: the device retired, and registers again: its site places it again, and the time between stays empty', async () => {
  await register(['pump', 'Plant 1']);
  await assets.edits.retireDevice(device('pump'));
  now += 5 * HOUR_MS;
  await register(['pump', 'Plant 1']);
  const [before, between, after] = [HOUR - HOUR_MS, HOUR, now].map((at) => assets.ancestors('pump/flow', at));
  expect([before, between, after]).toEqual([['Plant 1'], [], ['Plant 1']]);
});

test('Sweep over the registry: devices got their sites from births and descriptions: all are placed, and a second sweep changes nothing', async () => {
  const pipeline = await startMemoryPipeline();
  afterwards(() => pipeline.stop());
  await pipeline.accept('iot/v1/fan/birth', JSON.stringify({ site: 'Plant 1/Hall 1', sensors: [] }));
  await pipeline.accept('iot/v1/saw/birth', JSON.stringify({ site: 'Plant 1', sensors: [] }));
  await pipeline.measure('pump', [{ sensor_id: 't', value: 1 }]);
  const { sites, tree, ancestors } = createTestTree({ store: pipeline.store, clock: Date.now });
  await sites.sweep();
  expect([ancestors('fan/t', 0)[0], ancestors('saw/t', 0)[0], ancestors('pump/t', 0)]).toEqual([
    'Plant 1/Hall 1',
    'Plant 1',
    [],
  ]);
  const { version } = tree;
  await sites.sweep();
  expect(tree.version).toBe(version);
});
