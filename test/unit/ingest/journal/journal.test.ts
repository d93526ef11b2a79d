import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import cassandra from 'cassandra-driver';
import fc from 'fast-check';
import { JournalRun } from '../../../../api/ingest/journal/run.ts';
import { JournalTakeover } from '../../../../api/ingest/journal/takeover.ts';
import { type WaitingDevice, WaitingSamples } from '../../../../api/ingest/journal/waiting-samples.ts';
import { blankDevice, blankSensor, type Device, type Sensor } from '../../../../api/ingest/registry/cache.ts';
import { EntriesWriter, entryBytes, readEntries } from '../../../../api/store/journal/entries.ts';
import type { RunRow } from '../../../../api/store/journal/index.ts';
import { type DeviceBytes, type SensorBytes, uuidBytes } from '../../../../schema/ids.ts';
import { HeldWrites } from '../../../support/database/held-writes.ts';
import { type MemoryPipeline, startMemoryPipeline } from '../../../support/system/memory-pipeline.ts';
import { until } from '../../../support/until.ts';

const HOUR = 3_600_000;
const NOW = Math.floor(Date.now() / HOUR) * HOUR + HOUR / 2;
const SETTINGS = { INGEST_JOURNAL: 'always' };

const REFUSED = new cassandra.errors.ResponseError(0x2200, 'refused');

const started: MemoryPipeline[] = [];
afterEach(async () => {
  for (const pipeline of started.splice(0)) await pipeline.stop();
});

async function start(options: Parameters<typeof startMemoryPipeline>[0] = {}) {
  const pipeline = await startMemoryPipeline({ settings: SETTINGS, clock: () => NOW, ...options });
  started.push(pipeline);
  return pipeline;
}

const measure = (pipeline: MemoryPipeline, device: string, ts: number, value: number) =>
  pipeline.measure(device, [{ sensor_id: 's', ts, value }]);

const waiting = (pipeline: MemoryPipeline) => pipeline.ingest.journal.waitingSamples;

/** The first message registers the run, and has a row of its own. */
async function openJournal(pipeline: MemoryPipeline) {
  await until(async () => {
    await measure(pipeline, 'first', NOW - 60_000, 0);
    return waiting(pipeline) > 0;
  });
}

const countRows = async ({ client }: MemoryPipeline, device: Buffer) => {
  const bucket = Buffer.alloc(8);
  bucket.writeBigInt64BE(BigInt(NOW - (NOW % HOUR)));
  const { rows } = await client.execute(
    'SELECT parts, samples FROM message WHERE device_id = ? AND bucket = ? AND part = ?',
    [device, bucket, Buffer.alloc(4)],
  );
  return rows.filter((row) => row['samples']).length;
};

const takeoverOf = ({ store, ingest }: MemoryPipeline) =>
  new JournalTakeover({
    own: store.journal,
    store: store.everywhere.journal,
    leases: store.packLeases,
    isOwn: () => false,
    write: (samples) => ingest.measurements.writeOrphaned(samples),
    process: 'second',
    beatMs: 2,
    logger: { info() {}, debug() {}, error() {} },
  });

/** Settles when no more than `left` journals exist. */
async function takeOverAll(pipeline: MemoryPipeline, left: number = 0) {
  const takeover = takeoverOf(pipeline);
  takeover.start();
  try {
    await until(async () => (await pipeline.store.journal.runs()).length <= left, { withinMs: 5000 });
  } finally {
    await takeover.stop(5000);
  }
}

test('Journal: acknowledged samples whose rows are held back: readers of the process see them, and one row follows', async () => {
  const writes = new HeldWrites();
  const pipeline = await start({ writes });
  await openJournal(pipeline);
  await measure(pipeline, 'd', NOW - 100_000, 0.5);
  const held = writes.hold({ write: 'write_measurements' });
  const { bytes } = pipeline.keyOf('d');
  const before = await countRows(pipeline, bytes);
  for (let step = 0; step < 20; step++) await measure(pipeline, 'd', NOW - 50_000 + step, step);
  const samples = await pipeline.samples('d', 's', NOW - HOUR);
  expect(samples.slice(1)).toEqual(Array.from({ length: 20 }, (_, step) => [NOW - 50_000 + step, step]));
  expect(await pipeline.latest('d')).toEqual({ s: [NOW - 49_981, 19] });
  await held.release();
  await pipeline.ingest.drain();
  expect(waiting(pipeline)).toBe(0);
  expect(await pipeline.samples('d', 's', NOW - HOUR)).toEqual(samples);
  expect((await countRows(pipeline, bytes)) - before).toBeLessThanOrEqual(3);
});

test('Journal: the process is killed before the rows are written: another process writes them once, and removes the journal', async () => {
  const first = await start();
  await openJournal(first);
  await measure(first, 'd', NOW - 70_000, 1);
  await measure(first, 'd', NOW - 60_000, 2);
  expect(waiting(first)).toBeGreaterThan(0);
  await first.stop();
  started.splice(0);

  const second = await start({ database: first.client, settings: { INGEST_JOURNAL: 'never' } });
  await takeOverAll(second);
  expect(await second.samples('d', 's', NOW - HOUR)).toEqual([
    [NOW - 70_000, 1],
    [NOW - 60_000, 2],
  ]);
  expect(await second.latest('d')).toEqual({ s: [NOW - 60_000, 2] });
});

test('Journal: the process is drained: no run and no segment is left', async () => {
  const pipeline = await start();
  await openJournal(pipeline);
  await measure(pipeline, 'd', NOW, 1);
  await pipeline.ingest.drain();
  expect(await pipeline.store.journal.runs()).toEqual([]);
});

test('Journal: the heartbeat of its run is old: the message gets its own row', async () => {
  const pipeline = await start();
  await openJournal(pipeline);
  const isFresh = JournalRun.prototype.isFresh;
  try {
    const [run] = (await pipeline.store.journal.runs()) as [RunRow];
    JournalRun.prototype.isFresh = () => false;
    expect(pipeline.ingest.journal.isOwn(run.run)).toBe(false);
    const before = waiting(pipeline);
    await measure(pipeline, 'd', NOW, 1);
    expect(waiting(pipeline)).toBeLessThanOrEqual(before);
    expect(await countRows(pipeline, pipeline.keyOf('d').bytes)).toBe(1);
  } finally {
    JournalRun.prototype.isFresh = isFresh;
  }
});

test('Journal: a sensor is registered after the process of the takeover has read the device: its samples are written', async () => {
  const first = await start();
  const second = await start({ database: first.client, settings: { INGEST_JOURNAL: 'never' } });
  await openJournal(first);
  await measure(second, 'd', NOW - 90_000, 1);
  await until(async () => {
    await first.measure('d', [{ sensor_id: 'new', ts: NOW - 80_000, value: 2 }]);
    return first.ingest.journal.newestOf(first.keyOf('d').bytes) !== null;
  });
  await first.stop();
  started.splice(started.indexOf(first), 1);

  await takeOverAll(second);
  expect(await second.samples('d', 'new', NOW - HOUR)).toEqual([[NOW - 80_000, 2]]);
});

test('Journal: the entries of one journal are of a later version: others are taken over', async () => {
  const first = await start();
  await openJournal(first);
  await measure(first, 'd', NOW - 70_000, 1);
  await first.stop();
  started.splice(0);

  const second = await start({ database: first.client, settings: { INGEST_JOURNAL: 'never' } });
  const ofLater = { process: 'later', oldest: 1, newest: 1, beat: 1, ended: true };
  const [zeros, nines] = [Buffer.alloc(16), Buffer.alloc(16, 0x99)];
  for (const run of [zeros, nines]) {
    await second.store.journal.writeRun({ ...ofLater, run });
    await first.client.execute('INSERT INTO journal (run, segment, number, messages) VALUES (?, ?, ?, ?)', [
      run,
      Buffer.from([0, 0, 0, 1]),
      Buffer.from([0, 0, 0, 1]),
      Buffer.from([9]),
    ]);
  }
  await takeOverAll(second, 2);
  expect(await second.samples('d', 's', NOW - HOUR)).toEqual([[NOW - 70_000, 1]]);
});

test('Journal: the database is unavailable during a takeover: the process can stop', async () => {
  const first = await start();
  await openJournal(first);
  await first.stop();
  started.splice(0);

  const writes = new HeldWrites();
  const second = await start({ database: first.client, settings: { INGEST_JOURNAL: 'never' }, writes });
  const held = writes.hold({ write: 'write_measurements' });
  const takeover = takeoverOf(second);
  takeover.start();
  await held.reached();
  await takeover.stop(10);
  await held.release();
});

test('Journal: the database refuses the rows of one device: those of others are written, and nothing waits for ever', async () => {
  let refused: Buffer | null = null;
  const pipeline = await start({
    around: async ({ queries }, run) => {
      const isRefused = ({ query, params: [device] }: { query: string; params: unknown[] }) =>
        query.startsWith('INSERT INTO message ') && refused?.equals(device as Buffer);
      if (queries.some(isRefused)) throw REFUSED;
      return run();
    },
  });
  await openJournal(pipeline);
  refused = pipeline.keyOf('refused').bytes;
  await measure(pipeline, 'refused', NOW - 50_000, 1);
  await measure(pipeline, 'd', NOW - 50_000, 2);
  await pipeline.ingest.journal.flush(pipeline.keyOf('refused').id);
  await pipeline.ingest.drain();
  expect(waiting(pipeline)).toBe(0);
  expect(await pipeline.samples('d', 's', NOW - HOUR)).toEqual([[NOW - 50_000, 2]]);
  // Its samples are kept, and a replay stores them.
  const [kept] = await pipeline.storedDeadLetters();
  expect(JSON.parse(String(kept?.content?.payload))).toEqual([
    { sensor_id: expect.any(String), ts: NOW - 50_000, value: 1 },
  ]);
});

test('Journal: the database refuses the row of the journal: the message gets its own row', async () => {
  let isRefused = false;
  const pipeline = await start({
    around: async ({ table }, run) => {
      if (isRefused && table === 'journal') throw REFUSED;
      return run();
    },
  });
  await openJournal(pipeline);
  isRefused = true;
  await measure(pipeline, 'd', NOW - 50_000, 1);
  expect(await countRows(pipeline, pipeline.keyOf('d').bytes)).toBe(1);
  expect(await pipeline.deadLetters()).toEqual([]);
});

test('Journal: its row is committed after the drain: the message gets its own row', async () => {
  const writes = new HeldWrites();
  const pipeline = await start({ writes });
  await openJournal(pipeline);
  await pipeline.ingest.journal.flush(pipeline.keyOf('first').id);
  const held = writes.hold({ write: 'write_journal' });
  const measured = measure(pipeline, 'd', NOW - 50_000, 1);
  await held.reached();
  await pipeline.ingest.drain();
  await held.release();
  await measured;
  expect(await countRows(pipeline, pipeline.keyOf('d').bytes)).toBe(1);
});

test('Journal: a device sends on while its rows are awaited: the wait ends', async () => {
  const pipeline = await start();
  await openJournal(pipeline);
  await measure(pipeline, 'd', NOW - 50_000, 0);
  let isSettled = false;
  const settled = pipeline.ingest.journal.flush(pipeline.keyOf('d').id).then(() => {
    isSettled = true;
  });
  let step = 0;
  const deadline = performance.now() + 2000;
  while (!isSettled && performance.now() < deadline) {
    await measure(pipeline, 'd', NOW - 49_000 + step++, step);
    await nextTurn();
  }
  expect(isSettled).toBe(true);
  await settled;
});

test('Journal: a later message is too large for it: earlier samples are written first, in the same row', async () => {
  const pipeline = await start();
  await openJournal(pipeline);
  await measure(pipeline, 'd', NOW - 50_000, 1);
  await pipeline.ingest.journal.flush(pipeline.keyOf('d').id);
  const before = await countRows(pipeline, pipeline.keyOf('d').bytes);
  await measure(pipeline, 'd', NOW - 40_000, 1);
  const samples = Array.from({ length: 65 }, (_, step) => ({ sensor_id: 's', ts: NOW - step, value: step }));
  await pipeline.measure('d', samples);
  await pipeline.ingest.journal.flush(pipeline.keyOf('d').id);
  expect((await countRows(pipeline, pipeline.keyOf('d').bytes)) - before).toBe(1);
});

test('Journal: a sample is removed while it waits: latest does not show it when its row is written', async () => {
  const pipeline = await start();
  await openJournal(pipeline);
  const { ingest, corrections } = pipeline;
  await measure(pipeline, 'd', NOW - 60_000, 1);
  await ingest.journal.flush(pipeline.keyOf('d').id);
  await measure(pipeline, 'd', NOW - 50_000, 2);
  const device = ingest.peek(pipeline.keyOf('d').id) as Device;
  const [sensor] = device.sensors.values() as Iterable<Sensor>;
  const span = { from: NOW - 50_000, to: NOW - 49_999 };
  const hours = [{ hour: NOW - HOUR / 2, spans: [span], samples: { times: [], values: [] } }];
  await corrections.write(device, NOW * 1000, [{ sensor: sensor as Sensor, hours }]);
  await ingest.drain();
  expect(await pipeline.samples('d', 's', NOW - HOUR)).toEqual([[NOW - 60_000, 1]]);
  expect(await pipeline.latest('d')).toEqual({ s: [NOW - 60_000, 1] });
});

const deviceOf = (name: string): Device => {
  const bytes = uuidBytes(randomUUID());
  return blankDevice({ id: name, bytes: bytes as DeviceBytes, group: 0, name, retiredAt: null });
};

const seriesOf = (ts: number, value: number) => {
  const bytes = uuidBytes(SENSOR) as SensorBytes;
  const known = blankSensor({ id: SENSOR, bytes, deviceName: 'd', name: 's', site: null });
  return [{ known, sensor: bytes, times: [ts], values: [value] }];
};

const SENSOR = randomUUID();

test('WaitingSamples: rows of two segments are committed in the other order: the first segment is kept', () => {
  const samples = new WaitingSamples();
  const device = deviceOf('d');
  samples.add(device, seriesOf(NOW, 1), 6, 1);
  samples.add(deviceOf('e'), seriesOf(NOW, 1), 5, 2);
  expect(samples.segment).toBe(5);
  samples.add(device, seriesOf(NOW + 1, 1), 4, 3);
  expect(samples.segment).toBe(4);
});

test('WaitingSamples: the cache replaces the device meanwhile: each sensor has one series, and the device is the newest', () => {
  const samples = new WaitingSamples();
  samples.add(deviceOf('d'), seriesOf(NOW, 2), 1, 1);
  const newest = { ...deviceOf('d'), retiredAt: 1 };
  samples.add(newest, seriesOf(NOW - 1, 1), 1, 2);
  const [waiting] = samples.find('d') as [WaitingDevice];
  expect(waiting.device).toBe(newest);
  expect(waiting.series()).toMatchObject([{ times: [NOW - 1, NOW], values: [1, 2] }]);
  expect(waiting.newest()).toEqual(new Map([[SENSOR, { ts: NOW, value: 2 }]]));
});

test('Journal: the process is killed and starts again: its readers find all samples at once', async () => {
  const first = await start();
  await openJournal(first);
  await measure(first, 'd', NOW - 60_000, 2);
  expect(waiting(first)).toBeGreaterThan(0);
  await first.stop();
  started.splice(0);
  const second = await start({ database: first.client, settings: { INGEST_JOURNAL: 'never' } });
  expect(await second.samples('d', 's', NOW - HOUR)).toEqual([[NOW - 60_000, 2]]);
  // Whether the first process is dead is not known yet.
  expect(await second.store.journal.runs()).toHaveLength(1);
});

const ids = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes));
const entry = fc.record({
  device: ids,
  series: fc.array(
    fc
      .array(fc.tuple(fc.integer({ min: 0, max: 2 ** 45 }), fc.double({ noNaN: true })), { maxLength: 4 })
      .chain((samples) =>
        ids.map((sensor) => ({
          sensor,
          times: samples.map(([ts]) => ts),
          values: samples.map(([, value]) => value),
        })),
      ),
    { maxLength: 3 },
  ),
});

test('Journal entries: written and read again: the same', () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 200 }), (entries) => {
      const writer = new EntriesWriter();
      for (const each of entries) writer.add(each, entryBytes(each.series));
      expect([...readEntries(writer.end())]).toEqual(entries);
    }),
    { numRuns: 50 },
  );
  expect(() => [...readEntries(Buffer.from([9]))]).toThrow(RangeError);
});
