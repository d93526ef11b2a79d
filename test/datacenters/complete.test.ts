import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import pino from 'pino';
import { createLeases } from '../../api/background/index.ts';
import type { Store } from '../../api/store/index.ts';
import { type Identity, identifyDevice, identifySensor, type SensorIdentity } from '../../schema/ids.ts';
import { closingOf, HOUR_MS } from '../../schema/rules.ts';
import { ChangesReader } from '../support/changes-reader.ts';
import { useCleanUps } from '../support/clean-ups.ts';
import { createTestPacker } from '../support/history/packing.ts';
import { startApi } from '../support/processes/api-process.ts';
import { startTestSystem, type TestSystem } from '../support/system/index.ts';
import { until } from '../support/until.ts';
import {
  type DataCenter,
  heal,
  ROUND_TRIP_MS,
  startDataCenters,
  type TwoDataCenters,
} from './kit/data-centers.ts';
import { measureLag, measureLatencies } from './kit/latencies.ts';
import { publish, seriesOf } from './kit/samples.ts';

// What a process concludes to be complete: hours that it packs, journals that it takes over, changes that it has passed.

const TIMEOUT_MS = 900_000;
/** Hints are sent some seconds after a node is seen again. */
const HEAL_MS = 240_000;
const GROUPS = 4;
const MINUTE_MS = 60_000;
/** Longer than the 20 beats after which a process counts as dead. */
const DEAD_MS = 30_000;

const hourOf = (ts: number) => ts - (ts % HOUR_MS);
const isOpen = (hour: number) => now() < closingOf(hour);

let world: TwoDataCenters;
const clock = { now: 0, isSet: false };
const now = () => (clock.isSet ? clock.now : Date.now());
const started: Array<{ system: TestSystem; store: Store } | undefined> = [];

beforeAll(async () => {
  world = await startDataCenters({ keyspace: 'complete' });
}, TIMEOUT_MS);

afterAll(async () => {
  world?.link.open();
  for (const each of started) await each?.system.stop();
  await world?.stop();
}, TIMEOUT_MS);

const afterwards = useCleanUps(TIMEOUT_MS);

/** Starts broker, ingest and API in this process, once for each data center. They pack only when a test calls their packer. */
async function systemIn(index: number) {
  started[index] ??= await startSystem(world.dataCenters[index] as DataCenter);
  return started[index];
}

async function startSystem({ name, settings }: DataCenter) {
  const system = await startTestSystem({
    settings: { ...settings, LOG_LEVEL: 'warn', INGEST_JOURNAL: 'never' },
    clock: now,
  });
  world.report(`a process runs in ${name}`);
  return { system, store: await system.openStore() };
}

type Running = Awaited<ReturnType<typeof startSystem>>;

const bothSystems = () => Promise.all([systemIn(0), systemIn(1)]);

/** What the statistics of the hour count; undefined: the hour has none. */
async function countOf({ store }: Running, device: string, hour: number): Promise<number | undefined> {
  const { id, bytes } = identifyDevice(device) as Identity;
  const key = { device: bytes, sensor: (identifySensor(id, 's') as SensorIdentity).bytes };
  const rows = await store.packed.readStatistics(key, hour, hour + HOUR_MS);
  return rows[0]?.statistics?.count;
}

function packerOf({ store }: Running, owner: string) {
  const leases = createLeases({ store: store.packLeases, owner, logger: pino({ level: 'silent' }) });
  return createTestPacker({ store, groups: GROUPS, clock: now, leases });
}

test(
  'Journal: its process is killed while the link is cut: the other data center takes it over, and no sample is lost',
  async () => {
    const [dataCenter] = world.dataCenters;
    const other = await systemIn(1);
    const api = await startApi(
      { ...dataCenter.settings, MQTT_PORT: '0', INGEST_JOURNAL: 'always', MQTT_CLIENT_ID: 'killed' },
      { withinMs: 120_000 },
    );
    afterwards(() => api.kill());
    const client = await mqtt.connectAsync(api.mqttUrl);
    afterwards(() => client.endAsync(true));
    // All samples are in one hour.
    const base = Math.max(Date.now() - MINUTE_MS, hourOf(Date.now()));
    let sent = 0;
    const send = () => {
      const sample = { sensor_id: 's', ts: base + sent, value: sent };
      sent++;
      return client.publishAsync('iot/v1/killed/measurements', JSON.stringify([sample]), { qos: 1 });
    };
    const runs = async ({ system }: Running) =>
      (await system.execute('SELECT run FROM journal_run')).rows.length;
    await until(async () => {
      await send();
      return (await runs(other)) === 1;
    });
    world.link.cut();
    world.report('the link is cut');
    for (let step = 0; step < 100; step++) await send();
    await api.kill();
    world.report(`kill -9 of a process with ${sent} acknowledged samples`);
    // By then the other data center takes the process for dead. The time is part of the scenario.
    await sleep(DEAD_MS);
    await heal(world, HEAL_MS);

    await until(async () => (await runs(other)) === 0, { withinMs: HEAL_MS, what: 'the takeover' });
    world.report('the journal is taken over');
    const all = Array.from({ length: sent }, (_, step) => step);
    for (const { system } of await bothSystems()) {
      const isWhole = async () => {
        const values = await seriesOf(system, 'killed', hourOf(base));
        return JSON.stringify(values) === JSON.stringify(all);
      };
      await until(isWhole, { withinMs: MINUTE_MS }).catch(() => {});
      expect(await seriesOf(system, 'killed', hourOf(base))).toEqual(all);
    }
    world.report('both data centers have all samples of the journal');
  },
  TIMEOUT_MS,
);

test(
  'Latency of writes: data centers 80 ms apart: only LOCAL_QUORUM does not wait for the other',
  async () => {
    const [first, second] = await bothSystems();
    const latencies = await measureLatencies(world.dataCenters[0].config);
    for (const [level, { p50, p99 }] of Object.entries(latencies))
      world.report(`${level}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
    expect(latencies['LOCAL_QUORUM']?.p50).toBeLessThan(ROUND_TRIP_MS / 2);
    expect(latencies['QUORUM']?.p50).toBeGreaterThanOrEqual(ROUND_TRIP_MS);
    expect(latencies['EACH_QUORUM']?.p50).toBeGreaterThanOrEqual(ROUND_TRIP_MS);
    const lag = await measureLag({ from: first.system, to: second.system });
    world.report(
      `a reader in the other data center lags by ${lag.p50.toFixed(0)} ms (p50), ${lag.p99.toFixed(0)} (p99)`,
    );
    expect(lag.p50).toBeLessThan(2000);
  },
  TIMEOUT_MS,
);

test(
  'GET /changes: the link is cut for longer than marks are valid: a reader in the other data center misses no change',
  async () => {
    const [first, second] = await bothSystems();
    const reader = new ChangesReader((path) => second.system.fetch(path));
    const { values } = reader.samplesOf('followed', 's');
    await reader.read();
    let sent = 0;
    const send = () => publish(first.system, 'followed', [{ ts: Date.now(), value: sent++ }]);
    await until(async () => {
      await send();
      await reader.read();
      return values.length > 0;
    });
    world.link.cut();
    const began = Date.now();
    world.report('the link is cut');
    // The time is part of the scenario.
    while (Date.now() - began < DEAD_MS) {
      await send();
      await publish(second.system, 'other', [{ ts: Date.now(), value: sent }]);
      await reader.read();
    }
    world.report(`${sent} changes are acknowledged`);
    await heal(world, HEAL_MS);
    await send();
    const hasNewest = async () => {
      await reader.read();
      return values.includes(sent - 1);
    };
    await until(hasNewest, { withinMs: HEAL_MS, what: 'the newest change' });
    expect([...new Set(values)].sort((a, b) => a - b)).toEqual(
      Array.from({ length: sent }, (_, value) => value),
    );
    world.report(`the reader in the other data center has all ${sent} changes`);
  },
  TIMEOUT_MS,
);

test(
  'Packing: one data center packs while the link is cut: every acknowledged sample is in series and statistics after it is back',
  async () => {
    const both = await bothSystems();
    const [first, second] = both;
    const hour = hourOf(Date.now()) + HOUR_MS;
    Object.assign(clock, { now: hour + 30 * MINUTE_MS, isSet: true });
    const sampleOf = (value: number) => ({ ts: hour + value * 1000, value });
    const devices = ['near', 'far', 'roaming'];
    for (const device of devices) await publish(first.system, device, [sampleOf(0)]);
    await until(async () => (await seriesOf(second.system, 'roaming', hour)).length === 1);

    world.link.cut();
    world.report('the link is cut');
    await publish(first.system, 'near', [sampleOf(1)]);
    await publish(second.system, 'far', [sampleOf(1)]);
    await publish(first.system, 'roaming', [sampleOf(1)]);
    await publish(second.system, 'roaming', [sampleOf(2)]);
    // A device that only the other data center knows.
    await publish(second.system, 'new', [sampleOf(0), sampleOf(1)]);

    const packer = packerOf(first, 'first');
    clock.now = hour + 2 * HOUR_MS + 10 * MINUTE_MS;
    const whileCut = await Promise.allSettled([packer.packDue()]);
    world.report(
      `packing while the link is cut: ${whileCut[0].status}, ${packer.counts.hours} hours of sensors`,
    );
    await heal(world, HEAL_MS);

    clock.now += MINUTE_MS;
    const packers = [packer, packerOf(second, 'second')];
    for (const each of packers)
      await until(
        () =>
          each.packDue().then(
            () => true,
            () => false,
          ),
        { withinMs: HEAL_MS, what: 'packing' },
      );
    const expected = { near: [0, 1], far: [0, 1], roaming: [0, 1, 2], new: [0, 1] };
    const found = () =>
      Promise.all(
        both.map(async (running) => ({
          series: Object.fromEntries(
            await Promise.all(
              Object.keys(expected).map(async (device) => [
                device,
                await seriesOf(running.system, device, hour),
              ]),
            ),
          ),
          counts: await Promise.all(Object.keys(expected).map((device) => countOf(running, device, hour))),
        })),
      );
    const whole = { series: expected, counts: [2, 2, 3, 2] };
    const isWhole = async () => JSON.stringify(await found()) === JSON.stringify([whole, whole]);
    await until(isWhole, { withinMs: 60_000 }).catch(() => {});
    expect(await found()).toEqual([whole, whole]);
  },
  TIMEOUT_MS,
);

test(
  'Packing leases: both data centers request them at once: each has one owner, and each hour is packed once',
  async () => {
    const [first, second] = await bothSystems();
    const packers = [packerOf(first, 'first'), packerOf(second, 'second')];
    const before = clock.now;
    clock.now += 2 * HOUR_MS;
    const isPacked = async () => {
      // A transaction in contention with that of the other data center may fail. The next round repeats it.
      await Promise.allSettled(packers.map((packer) => packer.packDue()));
      const groups = Array.from({ length: GROUPS }, (_, group) => first.store.packProgress.read(group));
      return (await Promise.all(groups)).every(({ packedUntil }) => isOpen(packedUntil));
    };
    await until(isPacked, { withinMs: HEAL_MS, what: 'packing' });
    // Groups that no device has.
    for (let group = 1000; group < 1020; group++) {
      const taken = await Promise.allSettled(
        [first, second].map(({ store }, side) => store.packLeases.take(group, `side ${side}`)),
      );
      const owners = taken.filter((take) => take.status === 'fulfilled' && take.value);
      expect(owners.length).toBeLessThanOrEqual(1);
      await Promise.allSettled(
        [first, second].map(({ store }, side) => store.packLeases.release(group, `side ${side}`)),
      );
    }
    const [one, other] = packers.map(({ counts }) => counts.groupHours) as [number, number];
    world.report(`of ${GROUPS} groups and 2 hours, dc1 packed ${one} and dc2 ${other}`);
    expect(one + other).toBe((GROUPS * (clock.now - before)) / HOUR_MS);
    const leases = async () =>
      (
        await Promise.all([first, second].map(({ system }) => system.execute('SELECT grp FROM pack_lease')))
      ).flatMap(({ rows }) => rows);
    await until(async () => (await leases()).length === 0, {
      withinMs: 2 * MINUTE_MS,
      what: 'the end of the leases',
    });
  },
  TIMEOUT_MS,
);
