import { beforeAll, expect, test } from '@jest/globals';
import cassandra from 'cassandra-driver';
import fc from 'fast-check';
import { blankDevice, blankSensor } from '../../../../api/ingest/registry/cache.ts';
import { createNewestReads } from '../../../../api/store/devices/latest-rows.ts';
import { type Store, stampOf } from '../../../../api/store/index.ts';
import { createSession } from '../../../../api/store/sending/session.ts';
import { uuidText } from '../../../../schema/ids.ts';
import { greaterValue } from '../../../../schema/packed/series.ts';
import { HOUR_MS } from '../../../../schema/rules.ts';
import { createMemoryStore, readMemoryTables } from '../../../support/memory-store/index.ts';
import type { Table } from '../../../support/memory-store/tables.ts';

const NOW = Date.UTC(2026, 4, 5, 12);
/** Bounds of a request: data-model.md and backpressure.md. */
const MAX = { statements: 2000, bytes: 256 * 1024 };
const DEVICES = 4;
const SENSORS = 2500;

const { errors } = cassandra;

let tables: Map<string, Table>;
beforeAll(async () => {
  tables = await readMemoryTables();
});

/** @returns 16 bytes */
function idOf(index: number): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32BE(index, 12);
  return bytes;
}

const createFleet = () =>
  Array.from({ length: DEVICES }, (_, index) => ({
    device: blankDevice({ id: `d${index}`, bytes: idOf(index), group: 0, name: null, retiredAt: null }),
    sensors: Array.from({ length: SENSORS }, (_, sensor) =>
      blankSensor({ id: `s${sensor}`, bytes: idOf(1 + sensor), deviceName: null, name: null, site: null }),
    ),
  }));

/** @returns bytes of the values in a frame */
const bytesOf = (params: unknown[]): number =>
  params.reduce<number>(
    (sum, value) => sum + 4 + (Buffer.isBuffer(value) ? value.length : String(value ?? '').length),
    0,
  );

/**
 * A store whose database does not answer requests with more statements than `limit`, and requests that name a poisonous device.
 */
async function createBusyStore(limit: number) {
  const state = {
    limit,
    largest: { statements: 0, bytes: 0 },
    requests: 0,
    poison: null as Buffer | null,
  };
  const { store, database } = await createMemoryStore({
    clock: () => NOW,
    tables,
    around: ({ kind, queries }, run) => {
      // The store also writes a mark of its commits once a second.
      if (kind === 'select' || queries.some(({ query }) => String(query).includes('commit_mark')))
        return run();
      state.requests++;
      const { largest } = state;
      largest.statements = Math.max(largest.statements, queries.length);
      largest.bytes = Math.max(
        largest.bytes,
        queries.reduce((sum, { params }) => sum + bytesOf(params), 0),
      );
      const isPoisonous = queries.some(({ params }) =>
        params.some((value) => state.poison && value === state.poison),
      );
      if (queries.length > state.limit || isPoisonous)
        return Promise.reject(new errors.OperationTimedOutError('late', 'node'));
      return run();
    },
  });
  const newest = createNewestReads(createSession(database, () => {}));
  return { store, state, newest };
}

const update = fc.record({
  device: fc.nat(DEVICES - 1),
  from: fc.nat(SENSORS - 1),
  count: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 1500 })),
  step: fc.constantFrom(0, 1, -1),
  ts: fc.nat(50),
  value: fc.integer({ min: -2, max: 2 }),
});

test('Latest values: any messages, a database that answers small requests only: requests are bounded, and the newest values are stored', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(update, { minLength: 1, maxLength: 6 }),
      fc.constantFrom(40, 300, Number.POSITIVE_INFINITY),
      async (updates, limit) => {
        const { store, state, newest: stored } = await createBusyStore(limit);
        const fleet = createFleet();
        const expected: Map<string, Map<string, { ts: number; value: number }>> = new Map();
        await Promise.all(
          updates.map(async ({ device: index, from, count, step, ts, value }) => {
            const { device, sensors } = fleet[index] as ReturnType<typeof createFleet>[number];
            const newest = sensors
              .slice(from, from + count)
              .map((sensor, place) => ({ sensor, ts: NOW + ts + step * place, value }));
            const values = expected.get(device.id) ?? new Map();
            expected.set(device.id, values);
            for (const { sensor, ts, value } of newest) {
              const key = uuidText(sensor.bytes);
              const known = values.get(key);
              const isNewer =
                !known || ts > known.ts || (ts === known.ts && greaterValue(value, known.value) === value);
              if (isNewer) values.set(key, { ts, value });
            }
            await store.write.latest(device, newest);
            const stale = newest.filter(({ sensor, ts }) => sensor.ts === null || sensor.ts < ts);
            expect(stale).toEqual([]);
          }),
        );
        expect(state.largest.statements).toBeLessThanOrEqual(MAX.statements);
        expect(state.largest.bytes).toBeLessThanOrEqual(MAX.bytes);
        for (const { device } of fleet)
          expect(await stored.ofDevice(device)).toEqual(expected.get(device.id) ?? new Map());
      },
    ),
    { numRuns: 8, endOnFailure: true },
  );
});

test('Latest values: the database never answers for one device: the other devices of its group are written, also later ones', async () => {
  const { store, state, newest } = await createBusyStore(100);
  const fleet = createFleet();
  const [poisonous, ...others] = fleet;
  if (!poisonous) return;
  state.poison = poisonous.device.bytes;
  const write = ({ device, sensors }: typeof poisonous, ts: number) =>
    store.write.latest(
      device,
      sensors.slice(0, 3).map((sensor, place) => ({ sensor, ts: ts + place, value: 1 })),
    );
  // The first write is in flight, and the others share the next row.
  const first = write(others[0] as typeof poisonous, NOW);
  let isWritten = false;
  const stuck = [poisonous, ...others].map((one) => write(one, NOW + 10));
  void stuck[0]?.then(() => {
    isWritten = true;
  });
  await Promise.all([first, ...stuck.slice(1)]);
  await Promise.all(others.map((one) => write(one, NOW + 20)));
  expect(isWritten).toBe(false);
  state.poison = null;
  await stuck[0];
  for (const { device } of fleet) expect((await newest.ofDevice(device)).size).toBe(3);
});

test('Latest values: a device with 2,500 sensors waits: another device of its group is written before the last of them', async () => {
  const { store, state } = await createBusyStore(MAX.statements);
  const [wide, other] = createFleet();
  if (!wide || !other) return;
  const all = store.write.latest(
    wide.device,
    wide.sensors.map((sensor, place) => ({ sensor, ts: NOW + place, value: 1 })),
  );
  const [sensor] = other.sensors;
  await store.write.latest(other.device, sensor ? [{ sensor, ts: NOW, value: 1 }] : []);
  expect(wide.sensors.at(-1)?.ts).toBe(null);
  await all;
  expect(wide.sensors.at(-1)?.ts).toBe(NOW + SENSORS - 1);
  expect(state.requests).toBeLessThan(6);
});

const hours = Array.from({ length: 8000 }, (_, index) => NOW - index * HOUR_MS);
const key = { device: idOf(1), sensor: idOf(2) };
const names = Array.from({ length: 2000 }, (_, index) => `${'n'.repeat(120)}${index}`);

test.each([
  ['a year of late hours', (store) => store.write.history.writeLate(key, hours, NOW)],
  [
    'late days',
    (store) =>
      store.write.lateDays.write(
        0,
        NOW,
        hours.map((day) => ({ device: idOf(1), day })),
      ),
  ],
  [
    'packed hours of 60 kB',
    (store) => {
      const day = hours.slice(0, 24).map((hour, index) => ({ hour, samples: Buffer.alloc(60_000, index) }));
      return store.write.history.writeSamples(key, day);
    },
  ],
  [
    'a birth of 2,000 sensors with long names',
    async (store) => {
      const changes = names.map((name, index) => ({
        bytes: idOf(index),
        deviceName: 'd',
        name,
        type: name,
        unit: name,
        site: 's',
        label: name,
        registeredAt: NOW,
        writeTimestamp: stampOf(NOW),
      }));
      const { indexes, sensors } = store.write.registry.sensorWrites(
        { group: 0, bytes: idOf(1) },
        changes,
        NOW,
      );
      for (const write of [...indexes, ...sensors]) await store.write.registry.commit(write);
    },
  ],
  [
    'a minute with 3,000 devices seen',
    async (store) => {
      const seen = Array.from({ length: 3000 }, (_, index) => ({
        bytes: idOf(index),
        group: 0,
        lastSeen: 0,
      }));
      await Promise.all(seen.map((device) => store.write.lastSeen(device, NOW)));
    },
  ],
  [
    'samples of 10,000 instants in one hour, by 20 messages',
    async (store) => {
      const times = Array.from({ length: 10_000 }, (_, index) => NOW + index);
      const device = { bytes: idOf(1), sensors: { size: 1 } };
      await Promise.all(
        Array.from({ length: 20 }, (_, message) =>
          store.write.samples(device, [
            { sensor: idOf(2), times, values: times.map((time) => time / 7 + message) },
          ]),
        ),
      );
    },
  ],
] as Array<[string, (store: Store) => Promise<unknown>]>)(
  'Requests of the store: %s: at most 2,000 statements and 256 KiB, halved while the database does not answer',
  async (_what, write) => {
    const { store, state } = await createBusyStore(Number.POSITIVE_INFINITY);
    await write(store);
    const { statements, bytes } = state.largest;
    expect(statements).toBeLessThanOrEqual(MAX.statements);
    expect(bytes).toBeLessThanOrEqual(MAX.bytes);
    const busy = await createBusyStore(Math.max(1, Math.floor(statements / 5)));
    await write(busy.store);
    expect(busy.state.requests).toBeGreaterThan(state.requests);
  },
);
