import { expect, test } from '@jest/globals';
import { createBaselineStore } from '../../../api/features/baselines/store.ts';
import { bucketOf, DAY_MS, dayOf, HOUR_MS } from '../../../schema/rules.ts';
import { createTestLearner, keysOf } from '../../support/features/baselines.ts';
import { untilHourGoesOn } from '../../support/history/hours.ts';
import { useStoredSystem } from '../../support/system/stored.ts';
import { until } from '../../support/until.ts';

const GROUPS = 2;
const stored = useStoredSystem({
  settings: { LATEST_GROUPS: String(GROUPS) },
  periods: { baselines: 100 },
});

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
  expect(await createBaselineStore(stored.store().session).learnedUntil(0)).toBeGreaterThan(dayOf(now));

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
