import { beforeEach, expect, test } from '@jest/globals';
import pino from 'pino';
import { Baselines } from '../../../api/history/baselines/index.js';
import { createMetrics } from '../../../api/observability/metrics.js';
import { DAY_MS, dayOf, HOUR_MS } from '../../../schema/rules.js';
import { flatProfile, keysOf } from '../../support/history/baselines.js';
import { GROUPS, HOUR, useMemoryPath } from '../../support/history/memory-path.js';
import { readSeries } from '../../support/metrics.js';

const MINUTE_MS = 60_000;
/** A quarter past the hour, so the window of the baseline spans two clock hours. */
const NOW = HOUR + HOUR_MS / 4;

const path = useMemoryPath();
beforeEach(() => {
  path.clock.now = NOW;
});

/** Creates an API process with baselines of its own. `reads` counts its reads of samples. */
function createProcess() {
  const config = /** @type {any} */ ({ retention: { latestGroups: GROUPS } });
  const metrics = createMetrics({ version: 'test', role: 'http' });
  const context = { config, clock: () => path.clock.now, logger: pino({ level: 'silent' }), metrics };
  /** @type {string[][]} */
  const changes = [];
  let reads = 0;
  const samples = {
    ...path.store.samples,
    /** @type {typeof path.store.samples.newest} */
    newest(...args) {
      reads++;
      return path.store.samples.newest(...args);
    },
  };
  const baselines = new Baselines(context, {
    store: { ...path.store, samples },
    everyMs: 60_000,
    provisionalMs: 60_000,
    rest: async () => {},
  });
  baselines.onChange((keys) => void changes.push([...(keys ?? ['all'])]));
  return {
    baselines,
    changes,
    metrics,
    reads: () => reads,

    /** @param {string} device @param {number} value @param {number} [at] epoch ms @param {string} [sensor] */
    judge(device, value, at = path.clock.now, sensor = 's') {
      const judged = { ts: new Date(at).toISOString(), value, sigmas: undefined, provisional: undefined };
      baselines.judge(keysOf(device, sensor).key, judged);
      return { sigmas: judged.sigmas, provisional: judged.provisional };
    },
  };
}

/** @param {number} count @param {number} stepMs @param {number} [end] epoch ms */
const samplesUntil = (count, stepMs, end = NOW) =>
  Array.from({ length: count }, (_, index) => ({
    ts: end - (count - 1 - index) * stepMs,
    value: 20 + (index % 3),
  }));

const UNKNOWN = { sigmas: undefined, provisional: undefined };

test('Provisional baseline: a sensor has 5 minutes of samples: values get sigmas marked as provisional after the first round', async () => {
  await path.send('new', samplesUntil(300, 1000));
  const { baselines, judge, changes, metrics } = createProcess();
  expect(judge('new', 21)).toEqual(UNKNOWN);
  await baselines.lookAtRecent();
  const { key } = keysOf('new', 's');
  expect(changes).toEqual([[key]]);
  expect(judge('new', 21)).toEqual({ sigmas: 0, provisional: true });
  expect(judge('new', 60).sigmas).toBeGreaterThan(20);
  expect(baselines.at(key, new Date(NOW).toISOString())).toMatchObject({ mean: 21, provisional: true });
  const hour = { mean: 21, provisional: true };
  expect(baselines.hours(key)).toMatchObject([{ ts: HOUR, ...hour }]);
  expect(readSeries(await metrics.registry.metrics(), 'iot_baseline_provisional_sensors')).toBe(1);
});

test('Provisional baseline: another process reads the same samples: its baseline gives a value equal sigmas', async () => {
  await path.send('device', samplesUntil(300, 1000));
  const processes = [createProcess(), createProcess()];
  const answers = [];
  for (const { baselines, judge } of processes) {
    judge('device', 21);
    await baselines.lookAtRecent();
    answers.push(judge('device', 24.5));
  }
  expect(answers[0]).toEqual(answers[1]);
  expect(answers[0]?.provisional).toBe(true);
});

test('Provisional baseline: a sensor has 20 samples: values get no sigmas until a minute later, with 60 more samples', async () => {
  await path.send('young', samplesUntil(20, 1000));
  const { baselines, judge, reads } = createProcess();
  judge('young', 21);
  await baselines.lookAtRecent();
  expect(judge('young', 21)).toEqual(UNKNOWN);
  const before = reads();
  await baselines.lookAtRecent();
  expect(reads()).toBe(before);
  path.clock.now += MINUTE_MS;
  await path.send('young', samplesUntil(60, 1000, path.clock.now));
  await baselines.lookAtRecent();
  expect(judge('young', 21).provisional).toBe(true);
});

test('Provisional baseline: a device has a slow and a fast sensor: the slow sensor is read more hours back', async () => {
  await path.send('slow', samplesUntil(40, 10 * MINUTE_MS), { sensor: 'slow' });
  const risen = samplesUntil(600, 5000).map(({ ts }) => ({ ts, value: 50 }));
  await path.send('slow', risen, { sensor: 'fast' });
  await path.send('slow', samplesUntil(600, 5000, NOW - HOUR_MS - MINUTE_MS), { sensor: 'fast' });
  const { baselines, judge, reads } = createProcess();
  judge('slow', 20, NOW, 'slow');
  judge('slow', 20, NOW, 'fast');
  await baselines.lookAtRecent();
  expect(judge('slow', 21, NOW, 'slow')).toMatchObject({ sigmas: 0, provisional: true });
  expect(judge('slow', 50, NOW, 'fast')).toMatchObject({ sigmas: 0, provisional: true });
  expect(baselines.hours(keysOf('slow', 'slow').key).length).toBeGreaterThan(4);
  // The samples of the slow sensor span more than six hours, but at most half an hour passes between two reads.
  const before = reads();
  path.clock.now += HOUR_MS / 2;
  judge('slow', 21, path.clock.now, 'slow');
  await baselines.lookAtRecent();
  expect(reads()).toBeGreaterThan(before);
});

test('Provisional baseline: a device has no samples before the window: three reads suffice', async () => {
  await path.send('new', samplesUntil(10, 1000));
  const { baselines, judge, reads } = createProcess();
  judge('new', 21);
  await baselines.lookAtRecent();
  // The three reads: the current hour, the rest of the window, and the time before the window.
  expect(reads()).toBe(3);
});

test('Provisional baseline: an hour has 300 rows: fewer than 20 reads, spread over the whole hour', async () => {
  const all = samplesUntil(3600, 1000, HOUR + HOUR_MS - 1000);
  path.clock.now = HOUR + HOUR_MS - 1;
  // The values drift over the whole hour. Each message of two samples is one row.
  for (let index = 0; index < all.length; index += 12) {
    await path.send('busy', [
      { ts: Number(all[index]?.ts), value: index },
      { ts: Number(all[index + 6]?.ts), value: index + 6 },
    ]);
  }
  const { baselines, judge, reads } = createProcess();
  judge('busy', 0);
  await baselines.lookAtRecent();
  const found = baselines.at(keysOf('busy', 's').key, new Date(path.clock.now).toISOString());
  expect(found?.mean).toBeGreaterThan(1700);
  expect(found?.mean).toBeLessThan(1900);
  expect(reads()).toBeLessThan(20);
});

test('Provisional baseline: a device has 70 sensors in several partitions: the values of all sensors get sigmas', async () => {
  const names = Array.from({ length: 70 }, (_, index) => `s-${index}`);
  const { device, group } = path.keyOf('wide');
  const series = names.map((name) => {
    const samples = samplesUntil(100, 1000);
    return {
      sensor: path.keyOf('wide', name).sensor,
      times: samples.map(({ ts }) => ts),
      values: samples.map(({ value }) => value),
    };
  });
  await path.store.write.samples({ bytes: device, sensors: { size: names.length } }, series);
  expect(group).toBeLessThan(GROUPS);
  const { baselines, judge } = createProcess();
  for (const name of names) judge('wide', 21, NOW, name);
  await baselines.lookAtRecent();
  const judged = names.filter((name) => judge('wide', 21, NOW, name).sigmas === 0);
  expect(judged).toEqual(names);
});

test('Provisional baseline: a learned baseline is stored: the learned baseline is used instead', async () => {
  await path.send('device', samplesUntil(300, 1000));
  const { baselines, judge, changes, metrics } = createProcess();
  judge('device', 21);
  await baselines.lookAtRecent();
  const { device, sensor, key } = keysOf('device', 's');
  const { group } = path.keyOf('device');
  const profile = flatProfile(100, 1);
  await path.store.baselines.write(group, dayOf(NOW), [{ device, sensor, profile }]);
  await path.store.baselines.writeLearned(group, dayOf(NOW) + DAY_MS);
  await baselines.refresh();
  expect(judge('device', 103)).toEqual({ sigmas: 3, provisional: undefined });
  expect(baselines.at(key, new Date(NOW).toISOString())).toEqual({
    mean: 100,
    deviation: 1,
    provisional: false,
  });
  expect(baselines.hours(key)).toHaveLength(24);
  path.clock.now += HOUR_MS / 2;
  await baselines.lookAtRecent();
  expect(changes).toEqual([[key], ['all'], [key]]);
  expect(readSeries(await metrics.registry.metrics(), 'iot_baseline_provisional_sensors')).toBe(0);
});

test('Provisional baseline: no reader follows the sensor any more: its baseline is removed, and its samples are not read', async () => {
  await path.send('device', samplesUntil(3000, 1000));
  const { baselines, judge, reads, metrics } = createProcess();
  judge('device', 21);
  await baselines.lookAtRecent();
  expect(judge('device', 21, NOW - 2 * HOUR_MS)).toEqual(UNKNOWN);
  const before = reads();
  path.clock.now += 2 * HOUR_MS;
  await baselines.lookAtRecent();
  expect(reads()).toBe(before);
  expect(readSeries(await metrics.registry.metrics(), 'iot_baseline_provisional_sensors')).toBe(0);
  // The last value is older than the window, so the sensor is not followed again.
  expect(judge('device', 21, NOW)).toEqual(UNKNOWN);
  await baselines.lookAtRecent();
  expect(reads()).toBe(before);
});

test('Provisional baseline: the samples of one device cannot be read: values of other devices still get sigmas', async () => {
  await path.send('good', samplesUntil(300, 1000));
  const { baselines, judge } = createProcess();
  const { newest } = path.store.samples;
  const broken = path.keyOf('broken').device;
  path.store.samples.newest = (device, ...rest) => {
    if (broken.equals(device)) throw new TypeError('broken');
    return newest(device, ...rest);
  };
  judge('broken', 21);
  judge('good', 21);
  await expect(baselines.lookAtRecent()).rejects.toThrow('broken');
  await baselines.lookAtRecent();
  expect(judge('good', 21).sigmas).toBe(0);
});
