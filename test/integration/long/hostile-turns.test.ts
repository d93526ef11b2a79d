import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MAX_TURN_MS, threadCpuMs, watchTurns } from '../../support/event-loop.ts';
import {
  BODY_INPUTS,
  constantRows,
  IMPORT_INPUTS,
  MQTT_INPUTS,
  PROMQL_INPUTS,
  SPARKPLUG_INPUTS,
} from '../../support/hostile-inputs.ts';
import { connectDevice } from '../../support/mqtt/device.ts';
import { useDevice, useTestSystem } from '../../support/system/use.ts';

/** CPU time that the process used while the health route and another device waited. */
const waits = { health: 0, acknowledgement: 0 };
const probes = { isOn: true, done: Promise.resolve(null as unknown) };

// Hooks run in the order in which they are defined. So the probes end before the system does.
afterAll(async () => {
  probes.isOn = false;
  await probes.done;
});

const system = useTestSystem();
const canary = useDevice(system);

async function repeat(name: keyof typeof waits, probe: () => Promise<unknown>) {
  while (probes.isOn) {
    const begin = threadCpuMs();
    await probe();
    waits[name] = Math.max(waits[name], threadCpuMs() - begin);
  }
}

beforeAll(() => {
  const sample = () => [{ sensor_id: 'c', ts: Date.now(), value: 1 }];
  probes.done = Promise.all([
    repeat('health', async () => (await fetch(`${system.httpUrl}/healthz`)).text()),
    repeat('acknowledgement', () => canary.measure('canary', sample())),
  ]);
});
async function post(path: string, headers: Record<string, string>, body: string | Uint8Array<ArrayBuffer>) {
  const answer = await fetch(system.httpUrl + path, { method: 'POST', headers, body });
  await answer.text();
  return answer.status;
}

/** @param payload a connection of its own, which the broker may close */
async function publish(topic: string, payload: string | Buffer) {
  const device = await connectDevice(system);
  await device.publish(topic, payload);
  await device.end();
}

const INPUTS: Array<[name: string, send: () => Promise<unknown>]> = [
  ...MQTT_INPUTS.map(
    ([name, kind, payload]) =>
      [`MQTT, ${name}`, () => publish(`iot/v1/hostile/${kind}`, payload)] as [string, () => Promise<unknown>],
  ),
  ...SPARKPLUG_INPUTS.map(
    ([name, payload]) =>
      [`Sparkplug, ${name}`, () => publish('spBv1.0/g/NDATA/hostile', payload)] as [
        string,
        () => Promise<unknown>,
      ],
  ),
  ...BODY_INPUTS.map(
    ([name, path, headers, body]) =>
      [name, () => post(path, headers, body)] as [string, () => Promise<unknown>],
  ),
  ...IMPORT_INPUTS.map(
    ([name, type, body]) =>
      [`import of ${name}`, () => post('/api/v1/import?device=imported', { 'content-type': type }, body)] as [
        string,
        () => Promise<unknown>,
      ],
  ),
  [
    'two imports of Parquet with one million equal rows at once',
    () => {
      const headers = { 'content-type': 'application/vnd.apache.parquet' };
      const body = constantRows(1_000_000);
      return Promise.all([1, 2].map(() => post('/api/v1/import?dry_run=true', headers, body)));
    },
  ],
  ...PROMQL_INPUTS.flatMap(([name, text]) =>
    ['query', 'series'].map(
      (route) =>
        [
          `PromQL, ${route}, ${name}`,
          () => {
            const body = new URLSearchParams({ [route === 'series' ? 'match[]' : 'query']: text }).toString();
            const headers = { 'content-type': 'application/x-www-form-urlencoded' };
            const ask = () => post(`/prometheus/api/v1/${route}`, headers, body);
            return Promise.all(Array.from({ length: 8 }, ask));
          },
        ] as [string, () => Promise<unknown>],
    ),
  ),
];

test.each(INPUTS)(
  'Hostile input: %s: health answers and another device is acknowledged meanwhile',
  async (_, send) => {
    waits.health = 0;
    waits.acknowledgement = 0;
    await send();
    expect(waits.health).toBeLessThan(1000);
    expect(waits.acknowledgement).toBeLessThan(2000);
  },
);

test('Hostile input: an import of 400,000 samples out of order: no turn of the event loop over 100 ms', async () => {
  const input = IMPORT_INPUTS.find(([name]) => name.includes('reverse'));
  const turns = watchTurns();
  await post('/api/v1/import?device=imported', { 'content-type': String(input?.[1]) }, input?.[2] ?? '');
  expect(turns.longest()).toBeLessThan(MAX_TURN_MS);
  turns.end();
});
