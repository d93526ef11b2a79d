import { afterEach, expect, test } from '@jest/globals';
import { MillraceError } from '../../../../common/errors.ts';
import { HeldWrites } from '../../../support/database/held-writes.ts';
import { type MemoryPipeline, startMemoryPipeline } from '../../../support/system/memory-pipeline.ts';

const HOUR_MS = 3_600_000;
const NOW = Date.UTC(2026, 10, 21, 12, 20);

let pipeline: MemoryPipeline;
afterEach(() => pipeline.stop());

test('Storing measurements: the commit takes an hour: the sample observer is notified again before the message ends', async () => {
  let now = NOW;
  pipeline = await startMemoryPipeline({ clock: () => now });
  const calls: string[] = [];
  pipeline.ingest.setSampleObserver({
    note(_device, _series, seenAt) {
      calls.push(seenAt === null ? 'note all' : 'note');
      if (seenAt === null)
        return new Promise((resolve) =>
          setImmediate(() => {
            calls.push('noted');
            resolve();
          }),
        );
      // The message is received, and not committed yet.
      if (calls.length === 1) now += HOUR_MS;
      return undefined;
    },
    observe: () => calls.push('observe'),
  });
  const measure = () => pipeline.measure('oven', [{ sensor_id: 'heat', ts: now, value: 1 }]);
  await measure();
  expect(calls).toEqual(['note', 'note all', 'noted', 'observe']);
  await measure();
  expect(calls.slice(4)).toEqual(['note', 'observe']);
});

const fail = () => {
  throw new Error('a defect');
};

test.each([
  ['before', { note: fail, observe() {} }],
  ['during', { note: async () => fail(), observe() {} }],
  ['after', { note: () => undefined, observe: fail }],
])(
  'Storing measurements: the sample observer fails %s the commit: the message is accepted',
  async (_, observer) => {
    pipeline = await startMemoryPipeline({ clock: () => NOW });
    pipeline.ingest.setSampleObserver(observer);
    expect(await pipeline.measure('oven', [{ sensor_id: 'heat', value: 1 }])).toBe('accepted');
    expect(await pipeline.deadLetters()).toEqual([]);
    expect(await pipeline.latest('oven')).toEqual({ heat: [NOW, 1] });
  },
);

test('Storing measurements: the database does not take the note of the sample observer: the message is not accepted', async () => {
  pipeline = await startMemoryPipeline({ clock: () => NOW });
  pipeline.ingest.setSampleObserver({
    note: () => Promise.reject(new MillraceError('unavailable')),
    observe() {},
  });
  await expect(pipeline.measure('oven', [{ sensor_id: 'heat', value: 1 }])).rejects.toMatchObject({
    code: 'unavailable',
  });
});

const names = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`);

test.each([
  ['in two hours', names(1), [NOW, NOW - HOUR_MS], 'write_measurements'],
  ['late', names(1), [NOW - 5 * HOUR_MS], 'history.writeSamples'],
  ['late, its mark', names(1), [NOW - 5 * HOUR_MS], 'history.writeLate'],
  ['of 100 sensors', names(100), [NOW], 'write_measurements'],
])(
  'Storing measurements: samples %s are not committed yet: latest values stay as they are',
  async (_, sensors, times, write) => {
    const writes = new HeldWrites();
    pipeline = await startMemoryPipeline({ clock: () => NOW, writes });
    const send = (ms: number) =>
      pipeline.measure(
        'oven',
        sensors.flatMap((sensor_id) => times.map((ts) => ({ sensor_id, ts: ts + ms, value: ms }))),
      );
    await send(0);
    const held = writes.hold({ write });
    const sent = send(1);
    await held.reached();
    await writes.quiet();
    const values = async () =>
      (await pipeline.store.devices.sensors(pipeline.keyOf('oven'))).map(({ value }) => value);
    expect(new Set(await values())).toEqual(new Set([0]));
    await held.release();
    await sent;
    expect(new Set(await values())).toEqual(new Set([1]));
  },
);
