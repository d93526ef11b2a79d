import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import pino from 'pino';
import { blankDevice, blankSensor, type Device, type Sensor } from '../../../../api/ingest/registry/cache.ts';
import { LatestUpdate, LatestWrites, PendingLatest } from '../../../../api/store/latest/writes.ts';
import { Partition, type PendingRow } from '../../../../api/store/sending/pending-rows.ts';
import { Retry } from '../../../../api/store/sending/retry.ts';
import type { Session } from '../../../../api/store/sending/session.ts';
import { MillraceError } from '../../../../common/errors.ts';

const DEVICES = 3;
const SENSORS = 1500;

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

const settle = () => new Promise((resolve) => setImmediate(resolve));

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
