import { expect, test } from '@jest/globals';
import { createRanking, groupItem, outlierItem } from '../../../../api/features/baselines/ranking.ts';
import { type JudgedItem, LatestCache } from '../../../../api/http/stream/latest-cache.ts';

const NOON = Date.UTC(2026, 10, 21, 12);

const item = (device: string, sigmas: number | undefined, rest?: Partial<JudgedItem>): JudgedItem => ({
  device_id: device,
  sensor_id: 's',
  device,
  name: 's',
  type: 'temperature',
  unit: null,
  site: 'North',
  ts: new Date(NOON).toISOString(),
  value: 1,
  sigmas,
  ...rest,
});

const FLEET = [
  item('calm', 0.3),
  item('hot', 6, { site: 'South' }),
  item('cold', -9),
  item('new', undefined),
  item('pulse', 4.5, { type: 'pulse' }),
  item('tie', 6, { site: 'South' }),
  item('silent', undefined, { ts: null, value: null, site: null }),
];
const ALL = { type: undefined, site: undefined };

test('Ranking of outliers: matching sensors: sorted by distance from their baseline, largest first', async () => {
  const ranking = createRanking({ latest: async () => FLEET, clock: () => NOON });
  const all = await ranking.sensors(ALL);
  expect(all.outliers.map(({ device }) => device)).toEqual(['cold', 'hot', 'tie', 'pulse']);
  expect([all.sensors, all.judged]).toEqual([7, 5]);
  const south = await ranking.sensors({ ...ALL, site: 'South' });
  expect([south.sensors, south.outliers.length]).toEqual([2, 2]);
  expect((await ranking.sensors({ type: 'pulse', site: 'South' })).outliers).toEqual([]);
});

test('Ranking of outliers: sites and devices: sorted by their worst sensor; those without a judgment come last', async () => {
  const ranking = createRanking({ latest: async () => FLEET, clock: () => NOON });
  const sites = await ranking.groups('site', ALL);
  expect(sites.map(({ site, sensors, judged, outliers }) => [site, sensors, judged, outliers])).toEqual([
    ['North', 4, 3, 2],
    ['South', 2, 2, 2],
    [null, 1, 0, 0],
  ]);
  const devices = await ranking.groups('device', { ...ALL, type: 'temperature' });
  expect(devices.map(({ device }) => device)).toEqual(['cold', 'hot', 'tie', 'calm', 'new', 'silent']);
});

test('Ranking of outliers: requests within 2 s: share one read of the latest values; a failed read is repeated', async () => {
  let now = NOON;
  let asked = 0;
  const ranking = createRanking({
    async latest() {
      asked++;
      if (asked === 1) throw new Error('away');
      return FLEET;
    },
    clock: () => now,
  });
  await expect(ranking.sensors(ALL)).rejects.toThrow('away');
  await Promise.all([ranking.sensors(ALL), ranking.sensors(ALL), ranking.groups('site', ALL)]);
  expect(asked).toBe(2);
  now += 2000;
  await ranking.sensors(ALL);
  expect(asked).toBe(3);
});

test('Outlier in the API: item: has the baseline of the sensor and the age of the value', () => {
  const baselines = { at: () => ({ mean: 0, deviation: 0.5 }) } as never;
  const judged = item('hot', 6) as never;
  const deps = { baselines, context: { clock: () => NOON + 1500 } };
  const baseline = { mean: 0, deviation: 0.5 };
  expect(outlierItem(judged, deps)).toEqual({ ...(judged as object), baseline, age_ms: 1500 });
  expect(outlierItem(judged, { ...deps, context: { clock: () => NOON - 9 } }).age_ms).toBe(0);
  const group = { site: 'A', deviceId: null, device: null, sensors: 1, judged: 0, outliers: 0, worst: null };
  expect(groupItem(group, deps)).toMatchObject({ device_id: null, worst: null });
});

test('Latest cache: baselines change: only values with a changed distance become changes', () => {
  const known: Map<string, { sigmas: number }> = new Map([['a/s', { sigmas: 1 }]]);
  const cache = new LatestCache((key, judged) => {
    judged.sigmas = known.get(key)?.sigmas;
  });
  for (const device of ['a', 'b']) cache.update(item(device, undefined), 0);
  expect(cache.all().map(({ item: { sigmas } }) => sigmas)).toEqual([1, undefined]);
  expect(JSON.stringify(cache.all()[1]?.item)).not.toMatch(/sigmas/);
  cache.markSent();
  expect(cache.judgeAgain()).toBe(false);
  known.set('b/s', { sigmas: 7 });
  const before = cache.position;
  expect(cache.judgeAgain()).toBe(true);
  expect(cache.since(before).map(({ item: { device, sigmas } }) => [device, sigmas])).toEqual([['b', 7]]);
  known.delete('b/s');
  expect(cache.judgeAgain()).toBe(true);
});
