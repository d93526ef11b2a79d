import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import pino from 'pino';
import { blankDevice, blankSensor, type Device, type Sensor } from '../../../../api/ingest/registry/cache.ts';
import { LatestUpdate, LatestWrites, PendingLatest } from '../../../../api/store/latest/writes.ts';
import { Partition, type PendingRow } from '../../../../api/store/sending/pending-rows.ts';
import { Retry } from '../../../../api/store/sending/retry.ts';
import type { Session } from '../../../../api/store/sending/session.ts';
import { MillraceError } from '../../../../common/errors.ts';

/** Entries of a request (data-model.md). */
const MAX_ENTRIES = 2000;

const DEVICES = 3;
const SENSORS = 1500;

/** @returns 16 bytes */
function idOf(index: number): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32BE(index);
  return bytes;
}

/** @returns of one group */
const createFleet = (): Array<{ device: Device; sensors: Sensor[] }> =>
  Array.from({ length: DEVICES }, (_, device) => ({
    device: blankDevice({ id: `d${device}`, bytes: idOf(device), group: 0, name: null, retiredAt: null }),
    sensors: Array.from({ length: SENSORS }, (_, sensor) =>
      blankSensor({ id: `s${sensor}`, bytes: idOf(sensor), deviceName: null, name: null, site: null }),
    ),
  }));

function createWriter(session: Pick<Session, 'writeMerged'>) {
  const logger = pino({ level: 'silent' });
  return new LatestWrites({ session, retry: new Retry({ logger, onRetry: () => {} }), logger });
}

/** A writer whose requests to the database wait until the test ends them. */
function createBench() {
  const sent: Array<{ updates: LatestUpdate[]; entries: number }> = [];
  const ends: Array<() => void> = [];
  const session = {
    writeMerged: (row: PendingRow<unknown>) =>
      new Promise((resolve) => {
        ends.push(() => {
          row.encode();
          const { updates, entries } = row as PendingLatest;
          sent.push({ updates: [...updates.values()], entries });
          resolve(undefined);
        });
      }) as Promise<void>,
  };
  return { writer: createWriter(session), sent, ends };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

const count = fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: SENSORS }));
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ device: fc.nat(DEVICES - 1), from: fc.nat(SENSORS - 1), count }) },
  { weight: 1, arbitrary: fc.constant('end') },
);

test('Latest values: any messages wait: each request has at most 2,000 values, and all are committed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const fleet = createFleet();
      const { writer, sent, ends } = createBench();
      const writes: Array<Promise<unknown>> = [];
      const newest: Map<Sensor, number> = new Map();
      for (const [ts, one] of steps.entries()) {
        if (one === 'end') {
          ends.shift()?.();
          await settle();
          continue;
        }
        const { device, sensors } = fleet[one.device] as (typeof fleet)[number];
        const some = sensors.slice(one.from, one.from + one.count);
        for (const sensor of some) newest.set(sensor, ts);
        writes.push(
          writer.write(
            device,
            some.map((sensor) => ({ sensor, ts, value: 1 })),
          ),
        );
        await settle();
      }
      while (ends.length > 0) {
        ends.shift()?.();
        await settle();
      }
      await Promise.all(writes);
      for (const { updates, entries } of sent) {
        expect(entries).toBe(updates.reduce((sum, update) => sum + update.size, 0));
        expect(entries).toBeLessThanOrEqual(MAX_ENTRIES);
      }
      expect([...newest].filter(([sensor, ts]) => sensor.ts !== ts)).toEqual([]);
    }),
    { numRuns: 20, endOnFailure: true },
  );
});

test('Latest values: the database refuses a row with values of two messages: each message is written alone', async () => {
  const [one] = createFleet();
  const { device, sensors } = one as NonNullable<typeof one>;
  const sensor = sensors[0] as Sensor;
  /** values of the rows that are sent alone */
  const alone: number[] = [];
  const session = {
    async writeMerged(row: PendingRow<unknown>) {
      await settle();
      row.encode();
      if (!row.isAlone) throw new MillraceError('rejected');
      const [update] = (row as PendingLatest).updates.values();
      alone.push(Number(update?.newest.find((each) => each.sensor === sensor)?.value));
    },
  };
  const writer = createWriter(session);
  await Promise.all([1, 2].map((value) => writer.write(device, [{ sensor, ts: value, value }])));
  expect(alone).toEqual([1, 2]);
});

/** Bytes that Cassandra 5.0 counts for the update of a partition, of a row in it, and of a map entry (`dataSize`). */
const COUNTED = { partition: 25 + 16, row: 16 + 8 + 17 + 16, entry: 8 + 4 + 8 + 24 + 16 };

test('Latest values: several messages of a device group wait: the estimated size is at least that of Cassandra', () => {
  const some = fc.record({
    device: fc.nat(DEVICES - 1),
    from: fc.nat(20),
    count: fc.integer({ min: 1, max: 60 }),
  });
  const fleet = createFleet();
  fc.assert(
    fc.property(fc.array(some, { minLength: 1, maxLength: 8 }), (messages) => {
      const updates = messages.map((one, ts) => {
        const { device, sensors } = fleet[one.device] as (typeof fleet)[number];
        const newest = sensors
          .slice(one.from, one.from + one.count)
          .map((sensor) => ({ sensor, ts, value: 1 }));
        return new LatestUpdate(device, newest);
      });
      const [first, ...others] = updates;
      if (!first) return;
      const row = new PendingLatest(new Partition(Buffer.alloc(4)), first);
      for (const update of others) row.join(update);
      const { partition, row: ofRow, entry } = COUNTED;
      const counted = partition + ofRow * row.updates.size + entry * row.entries;
      expect(row.bytes).toBeGreaterThanOrEqual(counted);
      expect(row.bytes).toBeLessThan(1.1 * counted);
    }),
  );
});

/** @param count of entries */
function updateOf(count: number) {
  const device = blankDevice({ id: 'd', bytes: idOf(0), group: 0, name: null, retiredAt: null });
  const newest = Array.from({ length: count }, (_, index) => {
    const ids = { id: `s${index}`, bytes: idOf(index) };
    return { sensor: blankSensor({ ...ids, deviceName: null, name: null, site: null }), ts: 1, value: 1 };
  });
  return { device, newest };
}

test('Latest values: several devices wait: a row has at most 2,000 values, and 1,000 of a message', async () => {
  const { writer, sent, ends } = createBench();
  const add = (entries: number) => {
    const { device, newest } = updateOf(entries);
    return writer.write(device, newest);
  };
  const all = [add(1)];
  ends[0]?.();
  await settle();
  all.push(add(1500), add(500), add(1), add(5000), add(1));
  for (let at = 1; at < ends.length; at++) {
    ends[at]?.();
    await settle();
  }
  await Promise.all(all);
  expect(sent.map(({ updates }) => updates.map(({ size }) => size))).toEqual([
    [1],
    [1000, 500, 1],
    [1000, 1, 500],
    [1000],
    [1000],
    [1000],
    [1000],
  ]);
});
