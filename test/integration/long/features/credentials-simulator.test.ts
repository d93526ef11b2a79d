import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { useDirectory } from '../../../support/directory.ts';
import { startCommand } from '../../../support/processes/api-process.ts';
import { startSimulator } from '../../../support/processes/simulator-process.ts';
import { useTestSystem } from '../../../support/system/use.ts';

const FLEET = ['calf-0001', 'calf-0002', 'calf-0003'];

const system = useTestSystem({ settings: { MQTT_AUTH: 'true' }, periods: { recheck: 300 } });
const file = join(useDirectory('credentials'), 'calves');

/** @param args of `npm run credentials` */
const credentials = (...args: string[]) =>
  startCommand('api/features/credentials/command/index.ts', system.databaseSettings, args).ended;

const simulate = (...flags: string[]) =>
  startSimulator([
    ...['--broker', system.mqttUrl, '--device', 'calf', '--credentials', file],
    ...['--interval', '50ms', '--batch', '200ms', '--duration', '1s', ...flags],
  ]).ended;

test('Simulator with a file of credentials: each device signs in with its own account; only the owner may read the file', async () => {
  const issued = await credentials('issue', ...FLEET, '--file', file);
  expect(issued.code).toBe(0);
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  expect(lines.map((line) => line.split('\t')[0])).toEqual(FLEET);
  for (const line of lines) expect(issued.output).not.toContain(line.split('\t')[1]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);

  const { code, summary } = await simulate('--devices', '3');
  expect({ code, summary }).toMatchObject({ code: 0, summary: { dropped: 0, left: 0 } });
  // An account may publish for its own device only. One account for all devices would register only one device.
  for (const device of FLEET) expect((await system.fetch(`/devices/${device}`)).status).toBe(200);

  // A rotated credential is appended after the one that it replaces.
  expect((await credentials('rotate', 'calf-0002')).code).toBe(0);
  const refused = await simulate('--devices', '3');
  expect(refused.code).toBe(72);
  expect(refused.output).toContain('refuses us');
  expect(refused.output).toContain('--credentials');
  expect((await credentials('rotate', 'calf-0002', '--file', file)).code).toBe(0);
  expect((await simulate('--devices', '3')).code).toBe(0);
  expect((await readFile(file, 'utf8')).trim().split('\n')).toHaveLength(4);
});
