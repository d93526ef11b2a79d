import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { identifyDevice, identifySensor } from '../../schema/ids.js';
import { mergeSeries } from '../../schema/packed/series.js';
import { bucketOf, closingOf, HOUR_MS } from '../../schema/rules.js';
import { createTestPacker } from '../support/packing.js';
import { startTestSystem } from '../support/system.js';

const GROUPS = 4;
const MINUTE_MS = 60_000;

/** The hour that everything here is measured in, and the test's own clock. */
const HOUR = bucketOf(Date.now());
let now = HOUR + 30 * MINUTE_MS;

/** @type {import('../support/system.js').TestSystem} */
let system;
/** @type {import('../../api/store/index.js').Store} */
let store;
/** @type {import('cassandra-driver').Client} */
let database;
beforeAll(async () => {
  system = await startTestSystem({ clock: () => now, settings: { MAX_CLOCK_SKEW: '1d' } });
  store = await system.openStore();
  database = await system.openDatabase();
});
afterAll(async () => {
  await store?.close();
  await database?.shutdown();
  await system?.stop();
});

const createPacker = (parts = {}) => createTestPacker({ store, groups: GROUPS, clock: () => now, ...parts });

/** @param {string} device @param {Array<{ ts: number, value: number }>} samples @param {string} [sensor] */
async function send(device, samples, sensor = 's') {
  const body = JSON.stringify(samples.map((sample) => ({ sensor_id: sensor, ...sample })));
  const response = await system.fetch(`/measurements?device=${device}`, {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/json' },
  });
  expect(response.status).toBe(200);
}

/** @param {string} device @param {string} [sensor] */
function keyOf(device, sensor = 's') {
  const { id, bytes } = /** @type {import('../../schema/ids.js').Identity} */ (identifyDevice(device));
  const { bytes: sensorBytes } = /** @type {import('../../schema/ids.js').Identity} */ (
    identifySensor(id, sensor)
  );
  return { device: bytes, sensor: sensorBytes };
}

/** @param {string} device @param {string} [sensor] @param {number} [hour] */
async function statisticsOf(device, sensor = 's', hour = HOUR) {
  const rows = await store.packed.readStatistics(keyOf(device, sensor), hour, hour + HOUR_MS);
  return rows[0] ?? null;
}

/** @param {string} device @param {string} [sensor] @param {number} [hour] @returns {Promise<Array<{ ts: number, value: number }>>} */
async function historyOf(device, sensor = 's', hour = HOUR) {
  const { times, values } = mergeSeries(await store.packed.readHour(keyOf(device, sensor), hour));
  return [...times].map((ts, at) => ({ ts, value: Number(values[at]) }));
}

/** @param {number} count @param {number} [from] minutes into the hour @param {number} [hour] */
const samplesOf = (count, from = 0, hour = HOUR) =>
  Array.from({ length: count }, (_, at) => ({ ts: hour + from * MINUTE_MS + at * 1000, value: at - 3.5 }));

const untilOf = async () =>
  Promise.all(
    Array.from({ length: GROUPS }, async (_, group) => (await store.packProgress.read(group)).packedUntil),
  );

test('an hour is packed once it has closed, and not before', async () => {
  const samples = samplesOf(100);
  await send('early', samples.slice(0, 60));
  await send('early', samples.slice(40));
  now = closingOf(HOUR) - 1;
  await createPacker().packDue();
  expect(await statisticsOf('early')).toBeNull();
  expect(await untilOf()).toEqual([HOUR, HOUR, HOUR, HOUR]);

  now = closingOf(HOUR);
  const packer = createPacker();
  await packer.packDue();
  expect(await untilOf()).toEqual(Array(GROUPS).fill(HOUR + HOUR_MS));
  expect(await historyOf('early')).toEqual(samples);
  expect(await store.packed.readHour(keyOf('early'), HOUR)).toHaveLength(1);
  expect(await statisticsOf('early')).toEqual({
    hour: HOUR,
    statistics: { count: 100, min: -3.5, max: 95.5, sum: 4600, first: -3.5, last: 95.5 },
    readFrom: now,
    lateAt: null,
  });
  expect(packer.counts).toEqual({ hours: 1, samples: 100, groupHours: GROUPS, unreadable: 0 });
  expect(packer.behind.overdueMs()).toBe(0);
  // Nothing is due any more.
  await packer.packDue();
  expect(packer.counts.groupHours).toBe(GROUPS);
});
