import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { useTestSystem } from '../support/system/use.ts';

const run = promisify(execFile);

/** An hour ago, in epoch ms, because a year of empty hours takes long to read. */
const FROM = Date.now() - 3_600_000;

const system = useTestSystem();

/** Runs mosquitto_pub of Debian. It ends when the message is acknowledged, which is after its commit. */
async function mosquittoPub(device: string, content: unknown, flags: string[] = []) {
  const target = ['-h', '127.0.0.1', '-p', String(system.mqttPort), '-t', `iot/v1/${device}/measurements`];
  await run('mosquitto_pub', [...target, '-q', '1', '-m', JSON.stringify(content), ...flags]);
}

/** @returns by sensor, oldest first */
async function readBack(device: string): Promise<Record<string, { ts: string; value: number }[]>> {
  const { sensors } = await system.get(`/devices/${device}`);
  const series = sensors.map(async ({ name }: { name: string }) => [
    name,
    await system.all(
      `/devices/${device}/sensors/${encodeURIComponent(name)}/measurements?order=asc&from=${FROM}`,
    ),
  ]);
  return Object.fromEntries(await Promise.all(series));
}

/** @param ms epoch ms */
const sample = (ms: number, value: number) => ({ ts: new Date(ms).toISOString(), value });

describe('Plain JSON of mosquitto_pub', () => {
  test('Plain JSON of mosquitto_pub: array with times in milliseconds and ISO 8601, with and without a zone: every sample is stored', async () => {
    const ts = Date.now();
    const iso = (ms: number) => new Date(ms).toISOString();
    await mosquittoPub('many', [
      { sensor_id: 'a', ts, value: 1 },
      { sensor_id: 'a', ts: iso(ts - 1000), value: 2 },
      { sensor_id: 'b', ts: iso(ts - 2000).slice(0, -1), value: 3e-5 },
      {
        sensor_id: 'b',
        ts: `${iso(ts - 3000 + 2 * 3_600_000).slice(0, -1)}+02:00`,
        value: 4e300,
        more: 'text',
      },
    ]);
    expect(await readBack('many')).toEqual({
      a: [sample(ts - 1000, 2), sample(ts, 1)],
      b: [sample(ts - 3000, 4e300), sample(ts - 2000, 3e-5)],
    });
  });
});

test('Device and sensor named by UUIDs: published by mosquitto_pub: these UUIDs are their ids', async () => {
  const device = '0f8fad5b-d9cb-469f-a165-70867728950e';
  const sensor = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
  const ts = Date.now();
  await mosquittoPub(device, { sensor_id: sensor, ts, value: 8 });
  expect(await system.get(`/devices/${device}/sensors/${sensor}`)).toMatchObject({
    device_id: device,
    sensor_id: sensor,
    name: null,
    ...sample(ts, 8),
  });
});
