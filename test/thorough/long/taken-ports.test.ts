import { expect, test } from '@jest/globals';
import { migrateDatabase } from '../../../api/store/setup/index.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { useCleanUps } from '../../support/clean-ups.ts';
import { sharedContactPoint, uniqueName } from '../../support/database/engine.ts';
import { startCommand } from '../../support/processes/api-process.ts';
import { startTestSystem } from '../../support/system/index.ts';

const afterwards = useCleanUps();

async function startSystem(settings?: Record<string, string>) {
  const system = await startTestSystem({ settings });
  afterwards(() => system.stop());
  return system;
}

async function startOnTakenPort(choose: (taken: { mqtt: string; http: string }) => Record<string, string>) {
  const first = await startSystem();
  const settings = {
    CQL_CONTACT_POINTS: sharedContactPoint(),
    CQL_KEYSPACE: uniqueName('t'),
    HTTP_PORT: '0',
    MQTT_PORT: '0',
    ...choose({ mqtt: String(first.mqttPort), http: new URL(first.httpUrl).port }),
  };
  await migrateDatabase(readSettings(settings, { envFile: '' }));
  const second = startCommand('api/index.ts', { ...settings, LOG_LEVEL: 'warn' });
  afterwards(() => second.kill());
  return second.ended;
}

test.each([
  ['MQTT_PORT', 'mqtt'],
  ['HTTP_PORT', 'http'],
])('Start: the port of %s is in use: exit code 71; the error names the setting', async (name, which) => {
  const { code, output } = await startOnTakenPort((taken) => ({
    [name]: taken[which as 'mqtt' | 'http'],
  }));
  expect(code).toBe(71);
  expect(output.trim().split('\n')).toHaveLength(1);
  expect(output).toContain(`Set ${name} to a free port`);
});
