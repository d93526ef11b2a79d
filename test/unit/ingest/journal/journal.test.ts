import { afterEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { JournalRun } from '../../../../api/ingest/journal/run.ts';
import { JournalTakeover } from '../../../../api/ingest/journal/takeover.ts';
import { EntriesWriter, entryBytes, readEntries } from '../../../../api/store/journal/entries.ts';
import { HeldWrites } from '../../../support/database/held-writes.ts';
import { type MemoryPipeline, startMemoryPipeline } from '../../../support/system/memory-pipeline.ts';
import { until } from '../../../support/until.ts';

const HOUR = 3_600_000;
const NOW = Math.floor(Date.now() / HOUR) * HOUR + HOUR / 2;
const SETTINGS = { INGEST_JOURNAL: 'always' };

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
  const takeover = new JournalTakeover({
    store: second.store.journal,
    leases: second.store.journalLeases,
    isOwn: () => false,
    write: (samples) => second.ingest.measurements.writeOrphaned(samples),
    process: 'second',
    beatMs: 2,
    logger: { info() {}, debug() {} },
  });
  takeover.start();
  await until(async () => (await second.store.journal.runs()).length === 0);
  await takeover.stop();
  expect(await second.samples('d', 's', NOW - HOUR)).toEqual([
    [NOW - 70_000, 1],
    [NOW - 60_000, 2],
  ]);
  expect(await second.latest('d')).toEqual({ s: [NOW - 60_000, 2] });
});

test('Journal: a drained process leaves no run and no segment', async () => {
  const pipeline = await start();
  await openJournal(pipeline);
  await measure(pipeline, 'd', NOW, 1);
  await pipeline.ingest.drain();
  expect(await pipeline.store.journal.runs()).toEqual([]);
});

test('Journal: a run whose beat is old acknowledges nothing more: the message gets its own row', async () => {
  const pipeline = await start();
  await openJournal(pipeline);
  const isFresh = JournalRun.prototype.isFresh;
  try {
    JournalRun.prototype.isFresh = () => false;
    const before = waiting(pipeline);
    await measure(pipeline, 'd', NOW, 1);
    expect(waiting(pipeline)).toBeLessThanOrEqual(before);
    expect(await countRows(pipeline, pipeline.keyOf('d').bytes)).toBe(1);
  } finally {
    JournalRun.prototype.isFresh = isFresh;
  }
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
