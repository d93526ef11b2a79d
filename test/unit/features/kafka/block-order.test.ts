import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import pino from 'pino';
import { Resequencer } from '../../../../api/features/kafka/resequencer.ts';
import { SampleWrites } from '../../../../api/store/measurements/writes.ts';
import type { PendingRow } from '../../../../api/store/sending/pending-rows.ts';
import { Retry } from '../../../../api/store/sending/retry.ts';
import { MillraceError } from '../../../../common/errors.ts';
import { visitBlock } from '../../../../schema/packed/block.ts';
import { HOUR_MS } from '../../../../schema/rules.ts';

const SENSORS = [1, 2].map((fill) => Buffer.alloc(16, fill));

/** One partition for each hour, and four. */
const DEVICES = [1, 200].map((size, index) => ({
  id: String(index),
  bytes: Buffer.alloc(16, 10 + index),
  sensors: { size },
}));

/** Sample writes whose requests the test ends, with the records that Kafka would get. */
function open() {
  const waiting: Array<(error?: Error) => void> = [];
  const session = {
    write: async () => {},
    writeMerged: (row: PendingRow<unknown>) =>
      new Promise((resolve, reject) => {
        waiting.push((error) => {
          row.encode();
          if (error) reject(error);
          else resolve();
        });
      }) as Promise<void>,
  };
  const retry = new Retry({ logger: pino({ level: 'silent' }), onRetry: () => {} });
  const writes = new SampleWrites({ session, retry, watch: { note() {} } as never });
  /** Samples of each sensor of each device: one list for each record. */
  const records: Map<string, Array<Array<{ time: number; message: number }>>> = new Map();
  const order = new Resequencer({
    accepts: () => true,
    release: (device, bucket, rows) => {
      for (const { params } of rows)
        visitBlock(bucket, params.at(-1) as Buffer, (sensor, series) => {
          const key = `${device.id} ${sensor[0]}`;
          const { times, values } = series();
          const samples = [...times].map((time, at) => ({ time, message: Number(values[at]) }));
          records.set(key, [...(records.get(key) ?? []), samples]);
        });
    },
  });
  writes.observeBlocks(order);
  return { writes, waiting, records, order };
}

type Arrived = { message: number; time: number };

const byArrival = (a: Arrived, b: Arrived) => a.message - b.message || a.time - b.time;

/** A message: the hours of each of its sensors. Two bursts have more hours than are sent at once. */
const hours = fc.oneof(
  fc.uniqueArray(fc.nat(3), { minLength: 1, maxLength: 3 }),
  fc.constant(Array.from({ length: 20 }, (_, hour) => hour)),
);
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ device: fc.nat(1), first: hours, second: fc.option(hours, { nil: [] }) }),
  },
  { weight: 2, arbitrary: fc.record({ ends: fc.nat() }) },
  { weight: 1, arbitrary: fc.constant('tick') },
);

test('Blocks of a device: messages of several hours, commits in any order: each sensor is published in order of arrival', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const { writes, waiting, records, order } = open();
      const done: Promise<unknown>[] = [];
      const tick = () => new Promise((resolve) => setImmediate(resolve));
      for (const [message, one] of steps.entries()) {
        if (one === 'tick') await tick();
        else if (typeof one === 'object' && 'ends' in one)
          waiting.splice(one.ends % Math.max(1, waiting.length), 1).at(0)?.();
        else if (typeof one === 'object') {
          const series = [one.first, one.second].flatMap((list, index) => {
            const times = [...list].sort((a, b) => a - b).map((hour) => hour * HOUR_MS + message);
            const sensor = SENSORS[index] as Buffer;
            return times.length > 0 ? [{ sensor, times, values: times.map(() => message) }] : [];
          });
          done.push(writes.write(DEVICES[one.device] as never, series));
        }
      }
      let isDone = false;
      const all = Promise.all(done).then(() => {
        isDone = true;
      });
      while (!isDone) {
        for (const end of waiting.splice(0).reverse()) end();
        await tick();
      }
      await all;
      for (const list of records.values()) {
        let last = { message: -1, time: -1 };
        for (const samples of list) {
          // A record may have samples of several messages, sorted by time.
          const sorted = samples.toSorted(byArrival);
          expect([last, ...sorted].toSorted(byArrival)).toEqual([last, ...sorted]);
          last = sorted.at(-1) ?? last;
        }
      }
      expect(order.devices).toBe(0);
    }),
  );
});

test('Blocks of a device: the last hour of a message of 20 hours is refused: later messages are still published', async () => {
  const { writes, waiting, records, order } = open();
  const [device] = DEVICES as unknown as [never];
  const times = Array.from({ length: 20 }, (_, hour) => hour * HOUR_MS);
  const refused = writes.write(device, [{ sensor: SENSORS[0] as Buffer, times, values: times }]);
  const later = writes.write(device, [{ sensor: SENSORS[0] as Buffer, times: [1], values: [7] }]);
  for (const end of waiting.splice(0)) end(new MillraceError('rejected', 'too large'));
  await expect(refused).rejects.toThrow('too large');
  await expect(later).rejects.toThrow('too large');
  const next = writes.write(device, [{ sensor: SENSORS[0] as Buffer, times: [2], values: [8] }]);
  for (const end of waiting.splice(0)) end();
  await next;
  expect([...records.values()]).toEqual([[[{ time: 2, message: 8 }]]]);
  expect(order.devices).toBe(0);
});
