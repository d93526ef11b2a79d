import { expect, test } from '@jest/globals';
import { createGraphTables } from '../../../api/features/graph/tables.ts';
import { hourVertex, vertexOf } from '../../../api/features/graph/vertices.ts';
import { DAY_MS } from '../../../schema/rules.ts';
import { openAlarm } from '../../support/features/graph/mirror-case.ts';
import { createPlant } from '../../support/features/graph/plant.ts';
import { startCommand } from '../../support/processes/api-process.ts';
import { useStore, useTestSystem } from '../../support/system/use.ts';

const system = useTestSystem({ settings: { AUTO_REGISTER: 'true' }, periods: { alarmRules: 100 } });
const store = useStore(system);

async function collect<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const row of rows) found.push(row);
  return found;
}

test('Tables that the graph mirrors: 300 edits: all are read in order, also from the middle of a later partition', async () => {
  const plant = createPlant({ store, devices: { pump: ['a'] }, seed: 1 });
  await plant.edit(300);
  const { edits } = createGraphTables(store.session);
  const all = await collect(edits(0));
  expect(all.map(({ version }) => version)).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
  expect(all[0]?.items).toEqual([expect.objectContaining({ do: 'create', name: 'asset 0' })]);
  expect(await collect(edits(255))).toEqual(all.slice(255));
  expect(await collect(edits(300))).toEqual([]);
});

test('Tables that the graph mirrors: an alarm changes: it is read with its names, once after its last change', async () => {
  await openAlarm(system, 'press', 'heat');
  const { alarms } = createGraphTables(store.session);
  const now = Date.now();
  const read = async (since: number) => (await collect(alarms(now - DAY_MS, now, since))).flat();
  const [item] = await system.all('/alarms');
  expect(await read(0)).toEqual([
    {
      do: 'alarm',
      device: vertexOf(item?.device_id),
      name: 'press',
      sensor: vertexOf(item?.device_id, item?.sensor_id),
      sensor_name: 'heat',
      episode: `${item?.rule_id} ${Date.parse(item?.started_at)}`,
      hour: hourVertex(Date.parse(item?.opened_at)),
      opened: Date.parse(item?.opened_at),
      rule: 'hot',
      severity: 'warning',
      withdrawn: false,
    },
  ]);
  expect(await read(now + DAY_MS)).toEqual([]);
});

test.each([
  [['query', 'pumps'], 2, 'there is no query pumps; there are children, path,'],
  [['query', 'children'], 2, 'children takes the path or the id of an asset'],
  [['query', 'levels', '--at', 'noon'], 2, '--at is ISO 8601, or a duration such as 30d'],
  [['query', 'levels'], 1, 'No answer of Gremlin Server at GRAPH_URL http://127.0.0.1:1/gremlin'],
  [['mirror'], 1, 'No answer of Gremlin Server at GRAPH_URL http://127.0.0.1:1/gremlin'],
])('npm run graph -- %j: it ends with exit code %i and names the reason', async (args, exitCode, reason) => {
  const settings = { ...system.databaseSettings, GRAPH_URL: 'http://127.0.0.1:1/gremlin' };
  const { code, output } = await startCommand('api/features/graph/command.ts', settings, args).ended;
  expect(output).toContain(reason);
  expect(code).toBe(exitCode);
});
