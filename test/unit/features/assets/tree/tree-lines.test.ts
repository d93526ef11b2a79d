import { beforeEach, expect, test } from '@jest/globals';
import { LinesPlan, type TreeLine, treeLines } from '../../../../../api/features/assets/tree/tree-lines.ts';
import { HOUR_MS } from '../../../../../schema/rules.ts';
import { device, EDITOR, startTestTree, type TestTree } from '../../../../support/features/assets/tree.ts';

const HOUR = Date.UTC(2026, 10, 24, 12);
let assets: TestTree;

beforeEach(async () => {
  assets = await startTestTree(() => HOUR);
});

/** @param texts `path,level,device,sensor` each */
const linesOf = (texts: string[]): TreeLine[] =>
  texts.map((text, index) => {
    const [path = '', level = '', name = '', sensor = ''] = text.split(',');
    return { line: index + 2, path, level, device: name, sensor };
  });

/** @returns outcome or code of each line */
async function store(texts: string[]): Promise<string[]> {
  let outcomes: string[] = [];
  await assets.log.edit(EDITOR, (tree) => {
    const plan = new LinesPlan(tree, HOUR);
    outcomes = linesOf(texts)
      .map((line) => plan.add(line))
      .map(({ code, outcome }) => code ?? outcome);
    return plan.changes;
  });
  return outcomes;
}

const exported = () =>
  [...treeLines(assets.tree)].map((line) => [line.path, line.level, line.device, line.sensor].join(','));

test('Lines of a tree: parents are missing: they are created once, each on the level below its parent', async () => {
  expect(
    await store([
      'Plant/Hall/Line,,pump,',
      'Plant/Hall/Line,,pump,flow',
      'Plant/Hall,,,',
      'Plant/Yard,cell,,',
    ]),
  ).toEqual(['placed', 'placed', 'unchanged', 'created']);
  expect(exported()).toEqual([
    'Plant,site,,',
    'Plant/Hall,area,,',
    'Plant/Hall/Line,line,,',
    'Plant/Hall/Line,,pump,',
    'Plant/Hall/Line,,pump,flow',
    'Plant/Yard,cell,,',
  ]);
});

test('Lines of a tree: the export of one installation goes into an empty one: its export is the same', async () => {
  await store([
    'ACME,enterprise,,',
    'ACME/Plant,site,,',
    'ACME/Plant/Press,machine,press,',
    'Other,area,lamp,t',
  ]);
  const lines = exported();
  assets = await startTestTree(() => HOUR);
  await store(lines);
  expect(exported()).toEqual(lines);
  const { version } = assets.tree;
  expect(new Set(await store(lines))).toEqual(new Set(['unchanged']));
  expect(assets.tree.version).toBe(version);
});

test('Lines of a tree: invalid ones: each is refused with its code and creates nothing, and the others are stored', async () => {
  await store(['Plant,site,,']);
  const outcomes = await store([
    'Plant/A/B/C/D,machine,,',
    'Plant,area,,',
    'Plant/E,floor,,',
    'Plant/F,enterprise,,',
    'Plant/G,,,flow',
    `Plant/H,,${'x'.repeat(129)},`,
    'Plant//I,,,',
    'Plant/A/B/C/D/E,,,',
    'Plant/J,,,',
  ]);
  expect(outcomes).toEqual([
    'created',
    'asset_level',
    'malformed',
    'asset_level',
    'malformed',
    'bad_id',
    'malformed',
    'asset_level',
    'created',
  ]);
  expect(exported().map((line) => line.split(',')[0])).toEqual([
    'Plant',
    'Plant/A',
    'Plant/A/B',
    'Plant/A/B/C',
    'Plant/A/B/C/D',
    'Plant/J',
  ]);
});

test('Lines of a tree: a device is elsewhere: it moves from the present hour on, and its past stays', async () => {
  await store(['North,,pump,', 'South,,,']);
  expect(await store(['South,,pump,'])).toEqual(['placed']);
  expect(assets.ancestors('pump/flow', HOUR - HOUR_MS)).toEqual(['North']);
  expect(assets.ancestors('pump/flow', HOUR)).toEqual(['South']);
});

test('Lines of a tree: only the id of a device is known: the export has the id', async () => {
  const { id } = device('pump');
  await store([`North,,${id},`]);
  expect(exported()).toEqual(['North,site,,', `North,,${id},`]);
});
