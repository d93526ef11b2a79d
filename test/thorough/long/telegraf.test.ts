import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { useTestSystem } from '../../support/system/use.ts';
import { type Program, prepareTelegraf } from '../../support/telegraf/programs.ts';
import { until } from '../../support/until.ts';

const STARTS_MS = 600_000;

const system = useTestSystem();
let field: { telegraf: Program; machines: Program };

beforeAll(async () => {
  field = await prepareTelegraf(system.httpUrl);
}, STARTS_MS);
afterAll(async () => {
  await field?.telegraf.kill();
  await field?.machines.kill();
});

async function latest(): Promise<Map<string, number>> {
  const items = await system.all('/latest');
  return new Map(items.map(({ device, name, value }) => [`${device}/${name}`, value]));
}

test('Telegraf with Modbus and OPC UA: it writes as the compose profile does: every value of the machines is stored, and changes', async () => {
  field.telegraf.start();
  await until(async () => (await latest()).size === 7, { withinMs: 120_000, what: 'values of all sensors' });
  const before = await latest();
  expect([...before.keys()].sort()).toEqual([
    'oven-1/opcua.pieces',
    'oven-1/opcua.running',
    'oven-1/opcua.temperature',
    'press-1/modbus.pressure',
    'press-1/modbus.running',
    'press-1/modbus.strokes',
    'press-1/modbus.temperature',
  ]);
  for (const counter of ['oven-1/opcua.pieces', 'press-1/modbus.strokes'])
    await until(async () => (await latest()).get(counter) !== before.get(counter), {
      what: `a change of ${counter}`,
    });
});
