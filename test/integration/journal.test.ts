import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { useCleanUps } from '../support/clean-ups.ts';
import type { Json } from '../support/json.ts';
import { readMetric } from '../support/metrics.ts';
import { startApi } from '../support/processes/api-process.ts';
import { startTestSystem } from '../support/system/index.ts';
import { until } from '../support/until.ts';

const DEVICES = 40;
const MESSAGES = 5;

const afterwards = useCleanUps();
let system: Awaited<ReturnType<typeof startTestSystem>>;
beforeAll(async () => {
  // It takes a journal over as soon as it sees the same beat for a second.
  system = await startTestSystem({ periods: { beat: 50 } });
});
afterAll(() => system?.stop());

const runs = async () => (await system.execute('SELECT run FROM journal_run')).rows.length;

test('Journal: a process is killed after its acknowledgements: another process writes the rows, and no journal is left', async () => {
  const api = await startApi({
    ...system.databaseSettings,
    MQTT_PORT: '0',
    HTTP_PORT: '0',
    INGEST_JOURNAL: 'always',
    // Its name differs from that of the other process.
    MQTT_CLIENT_ID: 'killed',
  });
  afterwards(() => api.kill());
  const client = await mqtt.connectAsync(api.mqttUrl);
  afterwards(() => client.endAsync(true));
  const base = Date.now() - 1000;
  const publish = (device: string, step: number) =>
    client.publishAsync(
      `iot/v1/${device}/measurements`,
      JSON.stringify([{ sensor_id: 's', ts: base + step, value: step }]),
      { qos: 1 },
    );
  const waiting = () => readMetric(api, 'iot_journal_samples');
  await until(async () => {
    await publish('first', 0);
    return (await waiting()) > 0;
  });
  const devices = Array.from({ length: DEVICES }, (_, index) => `device-${index}`);
  for (let step = 0; step < MESSAGES; step++) await Promise.all(devices.map((each) => publish(each, step)));
  const stored = await system.execute('SELECT device_id FROM message');
  // Otherwise nothing is left to take over.
  expect(stored.rows.length).toBeLessThan(DEVICES * MESSAGES);
  expect(await runs()).toBe(1);
  await api.kill();

  await until(async () => (await runs()) === 0);
  for (const device of devices) {
    const page: Json = await system.get(`/devices/${device}/sensors/s/measurements?from=${base}&order=asc`);
    expect(page.items.map(({ value }: { value: number }) => value)).toEqual([0, 1, 2, 3, 4]);
  }
  const latest: Json = await system.get('/latest?device=device-0');
  expect(latest.items).toMatchObject([{ value: MESSAGES - 1 }]);
  expect((await system.execute('SELECT number FROM journal')).rows).toEqual([]);
});
