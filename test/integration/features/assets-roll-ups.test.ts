import { expect, test } from '@jest/globals';
import { bucketOf, closingOf, HOUR_MS } from '../../../schema/rules.ts';
import type { Json } from '../../support/json.ts';
import { useStoredSystem } from '../../support/system/stored.ts';
import { until } from '../../support/until.ts';

const MINUTE_MS = 60_000;

/** From 100 devices on, the series of an asset is read from roll-ups. */
const MANY = 100;
const FEW = 3;

const hour = bucketOf(Date.now());
const clock = { now: hour + 30 * MINUTE_MS };
const { system } = useStoredSystem({
  settings: { LATEST_GROUPS: '2' },
  clock: () => clock.now,
  periods: { pack: 50, rollUps: 50 },
});

interface Point {
  ts: string;
  count: number;
  min: number;
  max: number;
  avg: number;
}

/** By the name of the device. `ts` in epoch ms */
const sent: Map<string, Array<{ ts: number; value: number }>> = new Map();

async function send(device: string, samples: Array<{ ts: number; value: number }>) {
  sent.set(device, [...(sent.get(device) ?? []), ...samples]);
  const body = samples.map((sample) => ({ sensor_id: 'a', ...sample }));
  const response = await system().post(`/measurements?device=${device}`, body);
  expect(response.status).toBe(200);
}

async function register(device: string) {
  const birth = { sensors: [{ sensor_id: 'a', type: 'temperature' }] };
  const response = await system().post(`/devices/${device}`, birth, 'PUT');
  expect(response.status).toBeLessThan(300);
}

async function createAsset(name: string, level: string, parent: string | null): Promise<string> {
  const response = await system().post('/assets', { name, level, parent });
  expect(response.status).toBe(201);
  return ((await response.json()) as Json).asset_id;
}

async function place(device: string, asset: string, since?: number) {
  const at = since === undefined ? {} : { since: new Date(since).toISOString() };
  const response = await system().post(`/devices/${device}/assets`, { asset, ...at }, 'PUT');
  expect(response.status).toBeLessThan(300);
}

const seriesOf = (asset: string): Promise<Json> =>
  system().get(
    `/assets/${asset}/series?type=temperature&points=24&from=${hour - HOUR_MS}&to=${hour + 4 * HOUR_MS}`,
  );

/** Brute force over all samples. @param devices names */
function pointsOf(devices: string[], counts: (device: string, ts: number) => boolean = () => true): Point[] {
  const values: Map<number, number[]> = new Map();
  for (const device of devices)
    for (const { ts, value } of sent.get(device) ?? [])
      if (counts(device, ts)) values.set(bucketOf(ts), [...(values.get(bucketOf(ts)) ?? []), value]);
  return [...values]
    .sort(([a], [b]) => a - b)
    .map(([ts, some]) => ({
      ts: new Date(ts).toISOString(),
      count: some.length,
      min: Math.min(...some),
      max: Math.max(...some),
      // All values are multiples of an eighth, so no sum is rounded.
      avg: some.reduce((sum, value) => sum + value, 0) / some.length,
    }));
}

/** Moves the clock on from this time, until what has closed is packed and rolled up. */
async function rollUntil(now: number, asset: string, expected: Point[]) {
  clock.now = now;
  const isRolled = async () => {
    clock.now += MINUTE_MS;
    return JSON.stringify(await pointsIn(asset)) === JSON.stringify(expected);
  };
  await until(isRolled, { what: 'the roll-ups', withinMs: 40_000 }).catch(() => {});
  expect(await pointsIn(asset)).toEqual(expected);
}

const pointsIn = async (asset: string): Promise<Point[]> =>
  (await seriesOf(asset)).points.map(({ ts, count, min, max, avg }: Point) => ({ ts, count, min, max, avg }));

const names = Array.from({ length: MANY + FEW }, (_, index) => `rolled-${index}`);
const [few, many] = [names.slice(0, FEW), names.slice(FEW)];

test('Asset roll-ups: samples, a packed hour, late samples and a move: the series equals brute force over all samples', async () => {
  const site = await createAsset('Rolled site', 'site', null);
  const line = await createAsset('Line', 'line', site);
  const other = await createAsset('Other site', 'site', null);
  for (const device of names) await register(device);
  for (const device of few) await place(device, line);
  for (const device of many) await place(device, site);
  for (const [index, device] of names.entries())
    await send(device, [
      { ts: hour + index, value: index / 8 },
      { ts: hour + MINUTE_MS + index, value: -index / 4 },
    ]);

  await rollUntil(closingOf(hour) + 1, site, pointsOf(names));
  const rolled = await seriesOf(site);
  expect(rolled.source).toBe('roll-ups');
  const direct = await seriesOf(line);
  expect(direct.source).not.toBe('roll-ups');
  expect(await pointsIn(line)).toEqual(pointsOf(few));

  // Late samples of a packed hour, and a device that moves with its next hour.
  const [moved = ''] = few;
  await place(moved, other, hour + HOUR_MS);
  await send(moved, [
    { ts: hour + 2 * MINUTE_MS, value: 1000 },
    { ts: hour + HOUR_MS + 5, value: 7 },
  ]);
  for (const device of many) await send(device, [{ ts: hour + HOUR_MS + 6, value: 0.5 }]);
  // A day after the day has ended, the packer packs the late samples.
  const isHere = (device: string, ts: number) => device !== moved || ts < hour + HOUR_MS;
  await rollUntil(hour + 52 * HOUR_MS, site, pointsOf(names, isHere));
  expect((await seriesOf(site)).source).toBe('roll-ups');

  // A retired device stays in the past of its line, also when the past of the line changes.
  const [, neighbor = '', retired] = few;
  expect((await system().post(`/devices/${retired}`, undefined, 'DELETE')).status).toBe(204);
  await place(neighbor, other, hour);
  const without = names.filter((device) => device !== neighbor);
  await rollUntil(hour + 53 * HOUR_MS, site, pointsOf(without, isHere));
}, 120_000);
