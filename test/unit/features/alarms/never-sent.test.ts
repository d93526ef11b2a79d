import { afterEach, beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { groupOf, type Identity, identifyDevice } from '../../../../schema/ids.ts';
import { type MemoryAlarms, startMemoryAlarms } from '../../../support/features/alarms/memory-alarms.ts';
import { trueEpisodes } from '../../../support/history/true-episodes.ts';
import { runs } from '../../../support/runs.ts';
import { until } from '../../../support/until.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const NOW = Date.UTC(2026, 10, 21, 12, 20);
const SILENCE_MS = 10 * MINUTE_MS;
const CONDITION = { kind: 'absent', for_ms: SILENCE_MS } as const;
const RUNS = runs(6);

/** Milliseconds that the tests add to the clock. */
let shifted = 0;
let calls = 0;
const clock = () => NOW + shifted + calls++;

let system: MemoryAlarms;
beforeEach(async () => {
  system = await startMemoryAlarms({
    clock,
    settings: { MAX_CLOCK_SKEW: '1d' },
    periods: { reread: 20, recheck: 20 },
  });
});
afterEach(async () => {
  shifted = 0;
  await system.stop();
});

function deviceKey(device: string) {
  const bytes = system.keyOf(device, 's').device;
  return { group: groupOf(bytes, 4), bytes };
}

/** Registers the sensor `s` of a device by a birth. @returns epoch ms of the registration */
async function register(device: string): Promise<number> {
  await system.accept(`iot/v1/${device}/birth`, JSON.stringify({ sensors: [{ sensor_id: 's' }] }));
  const [row] = await system.store.devices.sensors(deviceKey(device));
  return Number(row?.registeredAt);
}

/** @param since epoch ms */
const watch = (device: string, since: number = NOW - 2 * HOUR_MS) =>
  system.addRule({ scope: { device }, condition: CONDITION }, since);

/** @param times epoch ms */
const send = (device: string, ...times: number[]) =>
  system.measure(
    device,
    times.map((ts) => ({ sensor_id: 's', ts, value: 1 })),
  );

const episodes = async (device: string) =>
  (await system.episodes(device, 's')).map(({ start, opened, cleared }) => ({ start, opened, cleared }));

/** Waits for an alarm. A new lease needs up to five minutes of watched time. */
const untilOpen = (device: string) =>
  until(async () => {
    shifted += 10_000;
    return (await episodes(device)).some(({ cleared }) => cleared === null);
  });

test('Absence alarm: the first sample comes in time from a clock that is an hour ahead: no alarm opens', async () => {
  const registered = await register('oven');
  await watch('oven');
  await send('oven', registered + HOUR_MS);
  shifted += 16 * MINUTE_MS;
  await system.looked();
  expect(await episodes('oven')).toEqual([]);
});

test('Absence alarm: before the first sample: no hour of history is read, also after a restart', async () => {
  const reads: string[] = [];
  const samples = system.store.samples as Record<string, unknown>;
  for (const [name, read] of Object.entries(samples)) {
    if (typeof read !== 'function') continue;
    samples[name] = (...given: unknown[]) => {
      reads.push(name);
      return read(...given);
    };
  }
  await register('oven');
  await watch('oven');
  shifted += 16 * MINUTE_MS;
  await untilOpen('oven');
  await system.alarms.stop();
  const next = await system.start('next');
  await system.looked();
  await until(() => next.waiting === 0);
  await next.stop();
  expect(reads).toEqual([]);
});

test('Absence alarm before the first sample: the device is retired: the alarm ends then, and a new registration counts again', async () => {
  const before = await register('oven');
  await watch('oven');
  await send('oven', before);
  await system.ingest.retire(identifyDevice('oven') as Identity);
  shifted += MINUTE_MS;
  const start = await register('oven');
  shifted += 16 * MINUTE_MS;
  await untilOpen('oven');
  const opened = start + SILENCE_MS;
  expect(await episodes('oven')).toEqual([{ start, opened, cleared: null }]);
  // A sample of the first registration does not matter.
  const cleared = clock();
  await send('oven', cleared);
  await until(() => system.messages.length === 2);
  expect(await episodes('oven')).toEqual([{ start, opened, cleared }]);
});

test('Absence alarm before the first sample: it is open, and the device is retired: it ends at the retirement, once', async () => {
  const start = await register('oven');
  await watch('oven');
  shifted += 16 * MINUTE_MS;
  await untilOpen('oven');
  await system.ingest.retire(identifyDevice('oven') as Identity);
  const retiredAt = await system.store.devices.retiredAt(deviceKey('oven'));
  shifted += MINUTE_MS;
  await system.alarms.endOfDevice(deviceKey('oven').bytes);
  await until(() => system.messages.length === 2);
  await system.looked();
  const next = await system.start('next');
  await system.looked();
  await until(() => next.waiting === 0);
  await next.stop();
  expect(await episodes('oven')).toEqual([{ start, opened: start + SILENCE_MS, cleared: retiredAt }]);
  expect(system.messages.map(({ event }) => event)).toEqual(['opened', 'cleared']);
});

test('Absence alarm: the sensor and the rule are older than the upgrade: no alarm opens until the rule changes', async () => {
  const upgradedAt = NOW + HOUR_MS;
  await system.client.execute(
    'INSERT INTO schema_version (part, version, name, applied_at) VALUES (?, ?, ?, ?)',
    ['millrace', 28, 'commit-marks', new Date(upgradedAt)],
  );
  await register('old');
  await watch('old');
  shifted += 2 * HOUR_MS;
  await register('new');
  await watch('new');
  shifted += 16 * MINUTE_MS;
  await untilOpen('new');
  await system.looked();
  expect(await episodes('old')).toEqual([]);
  await watch('old', clock());
  shifted += 16 * MINUTE_MS;
  await untilOpen('old');
});

const arrival = fc.record({
  minutes: fc.uniqueArray(fc.integer({ min: -30, max: 45 }), { minLength: 1, maxLength: 6 }),
  isRuleLater: fc.boolean(),
  order: fc.infiniteStream(fc.nat()),
  isRepeated: fc.infiniteStream(fc.boolean()),
  restarts: fc.infiniteStream(fc.boolean()),
});

test(
  'Absence alarm before the first sample: samples arrive shuffled and repeated, with restarts: it ends with the oldest sample',
  async () => {
    let devices = 0;
    let process = system.alarms;
    const restart = async () => {
      await process.stop();
      process = await system.start(`process-${devices}-${calls}`);
    };
    await fc.assert(
      fc.asyncProperty(arrival, async ({ minutes, isRuleLater, order, isRepeated, restarts }) => {
        const device = `device-${devices++}`;
        const registered = await register(device);
        if (isRuleLater) shifted += 5 * MINUTE_MS;
        const since = isRuleLater ? clock() : registered - HOUR_MS;
        await watch(device, since);
        if (restarts.next().value) await restart();
        shifted += 20 * MINUTE_MS;
        await untilOpen(device);
        shifted += 60 * MINUTE_MS;
        const times = minutes.map((minute) => registered + minute * MINUTE_MS);
        const shuffled = [...times, ...times.filter(() => isRepeated.next().value)]
          .map((ts) => ({ ts, place: Number(order.next().value) }))
          .sort((a, b) => a.place - b.place);
        for (const { ts } of shuffled) {
          await send(device, ts);
          if (restarts.next().value) await restart();
        }
        await until(() => process.waiting === 0);
        const first = Math.min(...times);
        const start = Math.max(registered, since + 1);
        const opened = Math.max(registered, since) + SILENCE_MS;
        const own = first > opened ? [{ start, opened, cleared: first }] : [];
        const inOrder = times.sort((a, b) => a - b).map((ts) => [ts, 1] as [number, number]);
        const others = trueEpisodes(CONDITION, inOrder, { since, now: clock() });
        const expected = [...own, ...others.map(({ peak: _, ...episode }) => episode)];
        // `trueEpisodes` knows no absence that began before its rule.
        const found = (await episodes(device)).filter((episode) => episode.start !== since);
        expect(found.filter(({ cleared }) => cleared !== null)).toEqual(
          expected.filter(({ cleared }) => cleared !== null),
        );
        expect(found.filter(({ cleared }) => cleared === null).map((episode) => episode.start)).not.toContain(
          start,
        );
      }),
      { numRuns: RUNS },
    );
    await process.stop();
  },
  RUNS * 10_000,
);
