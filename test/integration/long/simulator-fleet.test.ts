import { expect, test } from '@jest/globals';
import { describeDevices } from '../../../simulator/fleet/devices.ts';
import { resolveSenml } from '../../support/payloads/senml-resolver.ts';
import { useSimulations } from '../../support/simulator/simulations.ts';

const SEED = 42;
const INTERVAL_MS = 50;
const FLAGS = ['--seed', `${SEED}`, '--interval', `${INTERVAL_MS}ms`, '--batch', '200ms'];

const context = useSimulations();

function simulate(flags: string[], url: string = context.broker.url) {
  return context.start(['--broker', url, ...FLAGS, ...flags]);
}

/** The received samples without duplicates: device/sensor, then time, then value. */
function receivedSamples(): Map<string, Map<number, number>> {
  const found: Map<string, Map<number, number>> = new Map();
  for (const { topic, payload } of context.collector.of('measurements')) {
    for (const { name, ts, value } of resolveSenml(payload)) {
      const key = `${topic.split('/')[2]}/${name}`;
      const samples = found.get(key) ?? new Map();
      found.set(key, samples.set(ts, value));
    }
  }
  return found;
}

const count = (samples: Map<string, Map<number, number>>) =>
  [...samples.values()].reduce((sum, { size }) => sum + size, 0);

/** Compares the received samples with those of the same seed: the values of each sensor, one interval apart. */
function expectValuesOfSeed(devices: number) {
  const found = receivedSamples();
  const fleet = describeDevices({ devices, seed: SEED, intervalMs: INTERVAL_MS });
  const keys = fleet.flatMap(({ name, sensors }) => sensors.map((sensor) => `${name}/${sensor.name}`));
  expect([...found.keys()].sort()).toEqual(keys.sort());
  for (const { name, sensors } of fleet) {
    for (const sensor of sensors) {
      const samples = [...(found.get(`${name}/${sensor.name}`) ?? [])].sort(([a], [b]) => a - b);
      expect(samples.map(([, value]) => value)).toEqual(Array.from(samples, sensor.read));
      const first = samples[0]?.[0] ?? 0;
      expect(samples.map(([ts]) => ts)).toEqual(samples.map((_, step) => first + step * INTERVAL_MS));
    }
  }
}

test('Simulator with three devices: each publishes birth, online, measurements and offline; every sample reaches the broker', async () => {
  const simulator = simulate(['--devices', '3', '--duration', '2s']);
  const { code, summary } = await simulator.ended;
  expect(code).toBe(0);
  await context.collector.until(() => context.collector.of('status').length === 6);

  for (const device of ['collar-0001', 'collar-0002', 'collar-0003']) {
    const sent = context.collector.messages.filter(({ topic }) => topic.split('/')[2] === device);
    const [birth, online] = sent;
    expect(sent.map(({ topic }) => topic.split('/')[3]).filter((kind) => kind !== 'measurements')).toEqual([
      'birth',
      'status',
      'status',
    ]);
    expect(birth?.topic).toBe(`iot/v1/${device}/birth`);
    expect(online?.payload).toEqual({ state: 'online', session: birth?.payload.session });
    expect(sent.at(-1)?.payload).toEqual({ state: 'offline', session: birth?.payload.session });
    const { name, site, sensors } = birth?.payload ?? {};
    expect({ name, site: typeof site }).toEqual({ name: device, site: 'string' });
    expect(sensors[0]).toEqual({
      sensor_id: expect.any(String),
      name: sensors[0].sensor_id,
      type: expect.any(String),
      unit: expect.any(String),
      interval_ms: INTERVAL_MS,
    });
  }
  expect(count(receivedSamples())).toBe(summary?.made);
  expect(summary).toMatchObject({ acknowledged: summary?.made, dropped: 0, left: 0 });
  expectValuesOfSeed(3);
});

test('Simulator: process is killed: the last will of each device has the session of its birth', async () => {
  const simulator = simulate(['--devices', '2']);
  await context.collector.until(() => context.collector.of('measurements').length >= 4);
  simulator.child.kill('SIGKILL');
  const offline = () => context.collector.of('status').filter(({ payload }) => payload.state === 'offline');
  await context.collector.until(() => offline().length === 2);
  for (const { topic, payload } of offline()) {
    const birth = context.collector.of('birth', topic.split('/')[2])[0];
    expect(payload.session).toBe(birth?.payload.session);
  }
});
