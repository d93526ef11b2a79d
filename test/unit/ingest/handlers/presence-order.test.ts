import { expect, test } from '@jest/globals';
import { useStarted } from '../../../support/clean-ups.ts';
import { HeldWrites } from '../../../support/database/held-writes.ts';
import { startMemoryPipeline } from '../../../support/system/memory-pipeline.ts';

const writes = new HeldWrites();
const pipeline = useStarted(
  () => startMemoryPipeline({ writes }),
  ({ stop }) => stop(),
);

const status = (device: string, state: 'online' | 'offline', session?: number) =>
  pipeline.accept(`iot/v1/${device}/status`, JSON.stringify({ state, session }));

const measure = (device: string) => pipeline.measure(device, [{ sensor_id: 's', ts: Date.now(), value: 1 }]);

const stateOf = async (device: string) =>
  (await pipeline.store.devices.device(pipeline.keyOf(device)))?.state;

async function eventsOf(device: string): Promise<string[]> {
  const range = { from: 0, to: Date.now() + 60_000 };
  const { events } = await pipeline.store.events.page(pipeline.keyOf(device).bytes, range, {
    after: null,
    limit: 100,
  });
  return events.map(({ kind }) => kind).reverse();
}

test('Device presence: a measurement is committed after a last will that arrived later: the device stays offline', async () => {
  await measure('gone');
  await status('gone', 'online');
  const before = await eventsOf('gone');
  const held = writes.hold({ write: 'write_latest' });
  const measured = measure('gone');
  await held.reached();
  await status('gone', 'offline');
  await held.release();
  expect(await measured).toBe('accepted');
  expect(await stateOf('gone')).toBe('offline');
  expect(await eventsOf('gone')).toEqual([...before, 'offline']);
});

test('Device presence: a measurement arrives while a last will is committed: the device is online', async () => {
  await measure('back');
  await status('back', 'online');
  const held = writes.hold({ write: 'registry.writeStatus' });
  const ended = status('back', 'offline');
  await held.reached();
  const measured = measure('back');
  await writes.quiet();
  await held.release();
  expect(await Promise.all([ended, measured])).toEqual(['accepted', 'accepted']);
  expect(await stateOf('back')).toBe('online');
});

test('Device presence: a retained last will arrives while a measurement is committed: the device is online', async () => {
  await measure('kept');
  await status('kept', 'online');
  const held = writes.hold({ write: 'write_latest' });
  const measured = pipeline.measure('kept', [{ sensor_id: 's', ts: Date.now() + 1000, value: 2 }]);
  await held.reached();
  await pipeline.accept('iot/v1/kept/status', 'offline', { retained: true });
  expect(await stateOf('kept')).toBe('offline');
  await held.release();
  expect(await measured).toBe('accepted');
  expect(await stateOf('kept')).toBe('online');
});

test('Device presence: a last will names an ended session: the device stays online; the present session can end twice', async () => {
  const session = Date.now() - 60_000;
  await measure('sessions');
  await status('sessions', 'online', session);
  await status('sessions', 'online', session + 1);
  await status('sessions', 'offline', session);
  expect(await stateOf('sessions')).toBe('online');
  for (let time = 0; time < 2; time++) {
    await measure('sessions');
    await status('sessions', 'offline', session + 1);
    expect(await stateOf('sessions')).toBe('offline');
  }
});

test('Device presence: the event of a last will is committed before the state, so a redelivery writes it after a crash', async () => {
  await measure('crash');
  await status('crash', 'online');
  const held = writes.hold({ write: 'events.write' });
  const ended = status('crash', 'offline');
  await held.reached();
  await writes.quiet();
  expect(await stateOf('crash')).toBe('online');
  await held.release();
  await ended;
  expect(await stateOf('crash')).toBe('offline');
});

test('Device presence: a last will is replayed after a later status: the device stays online', async () => {
  await measure('replayed');
  await status('replayed', 'online');
  const payload = Buffer.from('offline');
  const content = { payload, size: payload.length, isRefused: null, replaces: false };
  const topic = 'iot/v1/replayed/status';
  await pipeline.ingest.replay({ topic, receivedAt: Date.now() - 60_000, content } as never);
  expect(await stateOf('replayed')).toBe('online');
});
