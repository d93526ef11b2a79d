import { Gremlin } from '../../../../api/features/graph/gremlin.ts';
import type { Store } from '../../../../api/store/index.ts';
import { startGraph } from '../../../../infra/graph/index.ts';
import { DAY_MS } from '../../../../schema/rules.ts';
import { startDisposable } from '../../database/engine.ts';
import { dropKeyspace } from '../../database/keyspace.ts';
import { startCommand } from '../../processes/api-process.ts';
import { runCleanUps } from '../../run-clean-ups.ts';
import { startTestSystem, type TestSystem } from '../../system/index.ts';
import { until } from '../../until.ts';
import { compareAnswers } from './answers.ts';
import { createPlant } from './plant.ts';

const DEVICES = Object.fromEntries(
  Array.from({ length: 8 }, (_, index) => [`device-${index}`, ['a', 'b', 'c']]),
);
/** They are placed after the random edits. */
const KNOWN = { press: ['a', 'b', 'c'], belt: ['a'] };
/** A mirror needs several transactions for them, so that a test can kill it between two of them. */
const MANY = Array.from({ length: 500 }, (_, index) => `sensor-${index}`);

const ASSETS_COMPARED = 40;

const POSITION = "g.V().hasId('root').valueMap('version', 'registered').by(unfold())";

/**
 * Edits a tree of assets, and mirrors it in a JanusGraph with the command, which is killed several times. Then it compares the answers of
 * the graph with those of the tables.
 */
export async function checkMirror({ edits, kills, seed }: { edits: number; kills: number; seed: number }) {
  const cleanUps: Array<() => unknown> = [];
  try {
    const system = await startTestSystem({
      settings: { AUTO_REGISTER: 'true' },
      periods: { alarmRules: 100 },
    });
    cleanUps.push(system.stop);
    const keyspace = `${system.config.cql.keyspace}_graph`;
    const contactPoint = String(system.config.cql.contactPoints);
    const graph = await startDisposable((place) => startGraph({ ...place, cql: { contactPoint, keyspace } }));
    cleanUps.push(() => dropKeyspace({ ...system.config.cql, keyspace }), graph.dispose);
    const url = `http://${graph.contactPoint}/gremlin`;
    const gremlin = new Gremlin(url);
    const start = (...args: string[]) => {
      const settings = { ...system.databaseSettings, GRAPH_URL: url };
      const command = startCommand('api/features/graph/command.ts', settings, args);
      cleanUps.push(command.kill);
      return command;
    };
    const position = async () => {
      const [found] = await gremlin.submit<{ version?: number; registered?: number }>(POSITION, {});
      return { version: 0, registered: 0, ...found };
    };

    const store = await system.openStore();
    for (const [device, sensors] of Object.entries({ ...DEVICES, ...KNOWN, many: MANY }))
      await post(system, device, sensors, 1);
    const plant = createPlant({ store, devices: DEVICES, seed });
    const killed: string[] = [];
    for (let round = 0; round < kills; round++) {
      await plant.edit(Math.ceil(edits / (kills + 1)));
      const before = await position();
      const mirror = start('mirror');
      await until(async () => !mirror.running() || (await position()).version > before.version);
      await mirror.kill();
      const { signal, output } = await mirror.ended;
      const isHalfDone = (await position()).registered === before.registered;
      killed.push(signal === 'SIGKILL' && isHalfDone ? 'halfway' : `${signal}: ${output}`);
    }
    await plant.edit(edits - plant.tree.version);
    await plant.create({ Works: 'site', 'Works/Line': 'line', 'Works/Line/Press': 'machine' });
    await plant.create({ 'Works/Line 2': 'line' });
    await plant.place('press', 'Works/Line/Press');
    await plant.place('belt', 'Works');
    await plant.place('belt', 'Works/Line');
    await openAlarm(system, 'press', 'a');

    const last = await start('mirror').ended;
    const status = await start('status').ended;
    const tables = { tree: plant.tree, sensors: await readSensors(store), alarms: await readAlarms(system) };
    // The alarm may be older than five minutes when a slow machine compares.
    const at = Math.max(...tables.alarms.map(({ opened }) => opened)) + 60_000;
    const compared = await compareAnswers(gremlin, tables, {
      assets: [...plant.tree.ids()].slice(-ASSETS_COMPARED),
      times: [at, at - 3 * DAY_MS, at - 8 * DAY_MS],
    });
    const byPath = await start('query', 'sensors', 'Works/Line/Press').ended;
    return { killed, last, status, byPath, version: plant.tree.version, ...compared };
  } finally {
    await runCleanUps(cleanUps);
  }
}

async function post(system: TestSystem, device: string, sensors: string[], value: number) {
  const samples = sensors.map((sensor) => ({ sensor_id: sensor, ts: Date.now(), value }));
  const response = await system.post(`/measurements?device=${device}`, samples);
  if (response.status !== 200) throw new Error(await response.text());
}

export async function openAlarm(system: TestSystem, device: string, sensor: string) {
  const rule = { name: 'hot', severity: 'warning', scope: { device } };
  const response = await system.post('/alarm-rules', { ...rule, condition: { kind: 'above', limit: 5 } });
  if (!response.ok) throw new Error(await response.text());
  await until(async () => {
    await post(system, device, [sensor], 9);
    return (await system.all('/alarms')).length > 0;
  });
}

async function readSensors({ fleet, groups }: Store) {
  const found: Array<{ device: string; id: string; name: string }> = [];
  for (let group = 0; group < groups; group++)
    for await (const rows of fleet.latestOfGroup(group))
      found.push(...rows.map(({ deviceId, id, name }) => ({ device: deviceId, id, name: name ?? '' })));
  return found;
}

const readAlarms = async (system: TestSystem) =>
  (await system.all('/alarms')).map(({ device_id, sensor_id, opened_at }) => ({
    device: device_id,
    sensor: sensor_id,
    opened: Date.parse(opened_at),
  }));
