import { expect, test } from '@jest/globals';
import { migrateDatabase } from '../../../../api/store/setup/index.ts';
import { readSettings } from '../../../../common/settings/index.ts';
import { steadyPort } from '../../../../infra/engine/ports.ts';
import { sharedContactPoint, uniqueName } from '../../../support/database/engine.ts';
import { useExternalBroker } from '../../../support/mqtt/external-broker.ts';
import { startApi, startCommand } from '../../../support/processes/api-process.ts';

const { broker, afterwards } = useExternalBroker();

async function settingsFor(more?: Record<string, string>) {
  const settings = {
    CQL_CONTACT_POINTS: sharedContactPoint(),
    CQL_KEYSPACE: uniqueName('t'),
    MQTT_URL: broker().url,
    MQTT_CLIENT_ID: 'ingest-1',
    HTTP_PORT: '0',
    ...more,
  };
  await migrateDatabase(readSettings(settings, { envFile: '' }));
  return settings;
}

test('MQTT client id: a second process uses the id of the first: the first process ends with exit code 64', async () => {
  const settings = await settingsFor();
  const first = await startApi(settings);
  afterwards(() => first.kill());
  const second = await startApi(settings);
  afterwards(() => second.kill());
  const { code, output } = await first.ended;
  expect(code).toBe(64);
  expect(output).toContain('Another process uses the client id ingest-1');
  expect((await fetch(`${second.httpUrl}/readyz`)).status).toBe(200);
});

async function failToStart(settings: Record<string, string>) {
  const api = startCommand('api/index.ts', { ...settings, LOG_LEVEL: 'error' });
  afterwards(() => api.kill());
  const { code, output } = await api.ended;
  expect(code).toBe(72);
  expect(output.trim().split('\n')).toHaveLength(1);
  expect(output).toContain('MQTT_URL');
  return output;
}

test('API process start: MQTT broker does not answer: exits with one message that has ECONNREFUSED', async () => {
  const closedPort = `mqtt://localhost:${await steadyPort()}`;
  expect(await failToStart(await settingsFor({ MQTT_URL: closedPort }))).toContain('ECONNREFUSED');
});
