import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MessageBatch } from '../../../api/ingest/decode/message-batch.ts';
import { ReceiptTimes } from '../../../api/ingest/receipt-times.ts';
import { type Identity, identifyDevice, identifySensor } from '../../../schema/ids.ts';
import { type MemoryPipeline, startMemoryPipeline } from '../../support/system/memory-pipeline.ts';

const NOW = Date.UTC(2026, 4, 5, 12);

const DEVICE = identifyDevice('d') as Identity;

/** @param receivedAt epoch ms */
function batchOf(
  receivedAt: number,
  values: ReadonlyArray<readonly [sensor: string, agoMs: number, value: number]>,
): MessageBatch {
  const batch = new MessageBatch({ receivedAt, oldest: 0, newest: receivedAt + 300_000, relative: true });
  for (const [index, [sensor, agoMs, value]] of values.entries()) {
    batch.addRelative(index, sensor, agoMs, value);
  }
  return batch;
}

let pipeline: MemoryPipeline;
afterEach(() => pipeline?.stop());

async function start(settings?: Record<string, string>) {
  pipeline = await startMemoryPipeline({ settings, clock: () => NOW });
  return pipeline;
}

const deadLetters = async () => (await pipeline.storedDeadLetters()).reverse();

test('Messages of a device in one ms without a timestamp: received over MQTT: each value is stored at its own ms', async () => {
  await start();
  for (const value of [1, 2, 3]) await pipeline.measure('d', [{ sensor_id: 's', value }]);
  await pipeline.measure('other', [{ sensor_id: 's', value: 4 }]);
  expect(await pipeline.samples('d', 's', NOW)).toEqual([
    [NOW, 1],
    [NOW + 1, 2],
    [NOW + 2, 3],
  ]);
  expect(await pipeline.samples('other', 's', NOW)).toEqual([[NOW, 4]]);
});

test('Values without a time: one message has a sensor by its id and by its name: each value has its own ms', async () => {
  await start();
  await pipeline.measure('d', [{ sensor_id: 's', value: 1 }]);
  const id = identifySensor(DEVICE.id, 's')?.id;
  await pipeline.measure('d', [
    { sensor_id: id, value: 2 },
    { sensor_id: 's', value: 3 },
  ]);
  const samples = await pipeline.samples('d', 's', NOW);
  expect(samples.map(([, value]) => value)).toEqual([1, 2, 3]);
});

test('Values without a time: the process starts again: they follow the newest committed sample', async () => {
  await start();
  for (const value of [1, 2]) await pipeline.measure('d', [{ sensor_id: 's', value }]);
  const { client: database } = pipeline;
  await pipeline.stop();
  pipeline = await startMemoryPipeline({ clock: () => NOW, database });
  await pipeline.measure('d', [{ sensor_id: 's', value: 3 }]);
  expect(await pipeline.samples('d', 's', NOW)).toEqual([
    [NOW, 1],
    [NOW + 1, 2],
    [NOW + 2, 3],
  ]);
});

test('Dead letters of messages in one ms without a timestamp: replayed: all values are stored, each once', async () => {
  await start({ AUTO_REGISTER: 'false' });
  for (const value of [1, 2, 3]) await pipeline.accept('iot/v1/d/measurements', `{"s":${value}}`);
  await pipeline.accept('iot/v1/d/birth', `{"session":${NOW},"sensors":[{"sensor_id":"s"}]}`);
  for (let round = 0; round < 2; round++) {
    for (const each of await deadLetters()) await pipeline.ingest.replay(each);
  }
  expect(await pipeline.samples('d', 's', NOW)).toEqual([
    [NOW, 1],
    [NOW + 1, 2],
    [NOW + 2, 3],
  ]);
});

test.each([
  ['an array', [1, 2, 3].map((value) => ({ sensor_id: 's', value }))],
  ['SenML', [1, 2, 3].map((v) => ({ n: 's', v }))],
  ['maps of sensors', [1, 2, 3].map((value) => ({ temp: value }))],
])('One message as %s: values of a sensor without timestamps: each gets its own ms', async (_, elements) => {
  await start();
  await pipeline.measure('d', elements);
  expect(await pipeline.submit('d', elements)).toEqual({ accepted: 3, refused: [] });
  const sensor = 'temp' in Object(elements[0]) ? 'temp' : 's';
  const values = (await pipeline.samples('d', sensor, NOW)).map(([, value]) => value);
  expect(values).toEqual([1, 2, 3, 1, 2, 3]);
});

test('Values without a timestamp: refused because RELATIVE_TIMES is off: replays store each value at its own ms', async () => {
  await start({ RELATIVE_TIMES: 'false' });
  await pipeline.measure('d', [
    { sensor_id: 's', value: 1 },
    { sensor_id: 's', ts: NOW - 5, value: 2 },
    { sensor_id: 's', value: 3 },
  ]);
  const [refused] = await deadLetters();
  await pipeline.stop();
  await start();
  for (let round = 0; round < 2; round++) await pipeline.ingest.replay(refused as never);
  expect(await pipeline.samples('d', 's', NOW - 10)).toEqual([
    [NOW, 1],
    [NOW + 1, 3],
  ]);
});

/** A message: ms since the previous message, the number of values of each sensor, and if it is redelivered. */
const message = fc.record({
  ms: fc.integer({ min: 0, max: 3 }),
  counts: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 3 }),
  again: fc.boolean(),
});

test('Values without a timestamp: any messages and redeliveries: assigned times are unique, and in order of arrival', () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 60 }), (messages) => {
      const times = new ReceiptTimes({ maxAheadMs: 300_000 });
      const placed: Map<string, number[]> = new Map();
      let now = NOW;
      for (const { ms, counts, again } of messages) {
        now += ms;
        const values = counts.flatMap((count, sensor) =>
          Array.from({ length: count }, () => [`s${sensor}`, 0, 1] as const),
        );
        const receipt = { from: null };
        const first = batchOf(now, values);
        times.place(first, DEVICE, null, now, receipt);
        if (again) {
          const second = batchOf(now + 7, values);
          times.place(second, DEVICE, null, now + 7, receipt);
          expect(second.sensors).toEqual(first.sensors);
        }
        for (const [sensor, samples] of first.sensors)
          placed.set(sensor, [...(placed.get(sensor) ?? []), ...samples.times]);
      }
      for (const instants of placed.values()) {
        expect(instants).toEqual([...new Set(instants)].sort((a, b) => a - b));
        expect(Math.min(...instants)).toBeGreaterThanOrEqual(NOW);
      }
    }),
  );
});

test('Values without a time: assigned times exceed the clock by MAX_CLOCK_SKEW: further messages wait', () => {
  const times = new ReceiptTimes({ maxAheadMs: 2000 });
  const place = (receivedAt: number) =>
    times.place(batchOf(receivedAt, [['s', 0, 1]]), DEVICE, null, receivedAt, { from: null });
  const waits = Array.from({ length: 2003 }, () => place(NOW));
  expect(waits.slice(0, 2001).every((ms) => ms === 0)).toBe(true);
  expect(waits.slice(2001)).toEqual([1, 2]);
  expect(place(NOW + 500)).toBe(0);
  // The clock was set back.
  expect(place(NOW - 3_600_000)).toBe(0);
});

test('Values without a time: database answers late with a new device: assigned times follow the order of arrival', async () => {
  const turns = fc.infiniteStream(fc.nat(6));
  let devices = 0;
  let delay: () => Promise<void> = async () => {};
  pipeline = await startMemoryPipeline({
    clock: () => NOW,
    around: async (_, run) => {
      await delay();
      return run();
    },
  });
  await fc.assert(
    fc.asyncProperty(turns, turns, async (delays, pauses) => {
      const device = `late-${devices++}`;
      delay = () => pass(Number(delays.next().value));
      const sent = [];
      for (let value = 0; value < 20; value++) {
        sent.push(pipeline.measure(device, [{ sensor_id: 's', value }]));
        await pass(Number(pauses.next().value));
      }
      await Promise.all(sent);
      delay = async () => {};
      const values = (await pipeline.samples(device, 's', NOW - 10)).map(([, value]) => value);
      expect(values).toEqual(Array.from({ length: 20 }, (_, value) => value));
    }),
    { numRuns: 30 },
  );
});

/** @param turns of the event loop */
async function pass(turns: number) {
  for (let turn = 0; turn < turns; turn++) await nextTurn();
}

test.each([
  ['a', 'b'],
  ['b', 'a'],
])(
  'Values without a time: two sensors, %s first, have samples ahead of the clock: all values are stored',
  async (...order) => {
    await start();
    for (const sensor of order) await pipeline.measure('d', [{ sensor_id: sensor, value: 0 }]);
    await pipeline.measure('d', [{ sensor_id: 'a', ts: NOW + 15, value: 1 }]);
    await pipeline.measure('d', [{ sensor_id: 'b', ts: NOW + 12, value: 2 }]);
    const untimed = order.flatMap((sensor) =>
      Array.from({ length: 14 }, () => ({ sensor_id: sensor, value: 3 })),
    );
    await pipeline.measure('d', untimed);
    for (const sensor of order) expect(await pipeline.samples('d', sensor, NOW)).toHaveLength(16);
  },
);

test('Values without a time: a sensor is ahead of the clock by more than MAX_CLOCK_SKEW: a dead letter instead of a long wait, and a replay stores each value', async () => {
  let now = NOW;
  pipeline = await startMemoryPipeline({ settings: { MAX_CLOCK_SKEW: '1s' }, clock: () => now });
  const many = Array.from({ length: 500 }, (_, value) => ({ sensor_id: 's', value }));
  for (let message = 0; message < 3; message++) await pipeline.measure('d', many);
  const flood = Array.from({ length: 7 }, () =>
    pipeline.measure('d', [...many, { sensor_id: 't', ts: NOW, value: 1 }]),
  );
  await Promise.all([...flood, pipeline.measure('other', [{ sensor_id: 's', value: 1 }])]);
  expect(await pipeline.samples('d', 't', NOW)).toHaveLength(1);
  const refused = await deadLetters();
  expect(refused.length).toBeGreaterThan(4);
  for (const { codes } of refused) expect(codes).toEqual({ in_future: 500 });
  now = NOW + 10_000;
  for (const each of refused) await pipeline.ingest.replay(each);
  expect(await pipeline.store.devices.sensors(pipeline.keyOf('d'))).toContainEqual(
    expect.objectContaining({ name: 's', ts: NOW + 10 * 500 - 1, value: 499 }),
  );
});
