import { expect, test } from '@jest/globals';
import { bucketOf, DAY_MS, dayOf, HOUR_MS } from '../../schema/rules.ts';
import { createTestLearner, keysOf } from '../support/history/baselines.ts';
import { untilHourGoesOn } from '../support/history/hours.ts';
import { useStoredSystem } from '../support/system/stored.ts';
import { until } from '../support/until.ts';

const GROUPS = 2;
const stored = useStoredSystem({
  settings: { LATEST_GROUPS: String(GROUPS) },
  periods: { baselines: 100 },
});

/** @param value of its temperature */
async function send(device: string, value: number) {
  const samples = [{ sensor_id: 'temperature', ts: Date.now(), value }];
  const response = await stored.system().post(`/measurements?device=${device}`, samples);
  expect(response.status).toBe(200);
}

/** Writes the statistics of two weeks. @param now epoch ms */
async function writeHours(device: string, usual: number, now: number) {
  const keys = keysOf(device, 'temperature');
  const end = bucketOf(now);
  for (let hour = end - 14 * DAY_MS; hour < end; hour += HOUR_MS) {
    const mean = usual + 0.5 * Math.sin(hour / HOUR_MS);
    const statistics = { count: 60, min: mean - 1, max: mean + 1, sum: 60 * mean, first: mean, last: mean };
    await stored.store().packing.writeStatistics(keys, hour, statistics, now);
  }
}

const outliers = (query = '') => stored.system().get(`/outliers${query}`);

test('GET /outliers: sensor has no history: the sensor is counted, but neither compared with a baseline nor listed', async () => {
  await send('freezer', -18);
  await until(async () => (await outliers()).sensors === 1, { what: 'the sensor' });
  expect(await outliers()).toEqual({ items: [], sensors: 1, judged: 0, outliers: 0 });
  expect(await stored.system().get('/devices/freezer/sensors/temperature/baseline')).toEqual({ hours: [] });
});

test('Baseline learner: two weeks of hourly statistics: stores a baseline, and a far value becomes an outlier', async () => {
  // Each hour of the day has its own baseline, so the hour must not change during the test. A value of an earlier day is not judged.
  await untilHourGoesOn();
  const now = Date.now();
  await send('freezer', -18);
  await send('oven', 200);
  await writeHours('freezer', -18, now);
  await writeHours('oven', 200, now);
  const { learnDue, counts } = createTestLearner({ store: stored.store(), groups: GROUPS, clock: () => now });
  await learnDue();
  expect(counts.learned).toBe(2);
  expect(await stored.store().baselines.learnedUntil(0)).toBeGreaterThan(dayOf(now));

  await until(async () => (await outliers()).judged === 2, { what: 'the judgment' });
  await send('freezer', 7);
  await until(async () => (await outliers()).outliers === 1, { what: 'the outlier' });
  const [item] = (await outliers('?limit=1')).items;
  expect(item).toMatchObject({ device: 'freezer', value: 7 });
  expect(Math.round(item.baseline.mean)).toBe(-18);
  expect(item.sigmas).toBeGreaterThan(10);
  expect(item.age_ms).toBeGreaterThanOrEqual(0);
  const { hours } = await stored.system().get('/devices/freezer/sensors/temperature/baseline');
  expect(hours.length).toBeGreaterThanOrEqual(24);
});

test('GET /outliers/groups: by device and by site: each device or site is listed with its worst sensor', async () => {
  await send('oven', 400);
  await until(
    async () => {
      const { items } = await stored.system().get('/outliers/groups?by=device');
      return items[0]?.device === 'oven' && items[0].worst?.value === 400;
    },
    { what: 'the oven' },
  );
  const sites = await stored.system().get('/outliers/groups');
  expect(sites.groups).toBe(1);
  expect(sites.items[0]).toMatchObject({
    site: null,
    device_id: null,
    sensors: 2,
    judged: 2,
    outliers: 2,
    worst: { device: 'oven' },
  });
  for (const query of ['?by=fleet', '?limit=0', '?x=1']) {
    expect((await stored.system().fetch(`/outliers/groups${query}`)).status).toBe(400);
  }
});
