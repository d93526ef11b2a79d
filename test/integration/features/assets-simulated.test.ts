import { expect, test } from '@jest/globals';
import { buildPlant } from '../../../infra/dev/plant.ts';
import { send } from '../../support/http/index.ts';
import { useTestSystem } from '../../support/system/use.ts';

const system = useTestSystem();

const lines = async () => (await send(system.httpUrl, '/api/v1/asset-tree')).text.trim().split('\n');

test('npm run dev: no assets yet: the simulated devices get a site with areas, lines and machines; later starts change nothing', async () => {
  const build = () => buildPlant(`${system.httpUrl}/`, ['--profile', 'factory', '--devices', '25']);
  await build();
  const tree = await lines();
  expect(tree).toEqual(
    expect.arrayContaining(['Plant,site,,', 'Plant/Hall 1,area,,', 'Plant/Hall 1/Line 1,line,,']),
  );
  expect(tree).toContain('Plant/Hall 1/Line 1/Machine 1,machine,,');
  expect(tree.filter((line) => line.includes(',machine-'))).toHaveLength(25);
  const rename = {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: '{"name":"Works"}',
  };
  expect((await send(system.httpUrl, '/api/v1/assets/Plant', rename)).status).toBe(200);
  await build();
  expect(await lines()).toEqual(tree.map((line) => line.replace(/^Plant/, 'Works')));
});
