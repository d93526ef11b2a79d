import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, jest, test } from '@jest/globals';
import cassandra from 'cassandra-driver';
import fc from 'fast-check';
import { JournalRun } from '../../../../api/ingest/journal/run.ts';
import { JournalTakeover } from '../../../../api/ingest/journal/takeover.ts';
import { type WaitingDevice, WaitingSamples } from '../../../../api/ingest/journal/waiting-samples.ts';
import { blankDevice, blankSensor, type Device, type Sensor } from '../../../../api/ingest/registry/cache.ts';
import { EntriesWriter, entryBytes, readEntries } from '../../../../api/store/journal/entries.ts';
import type { JournalStore, RunRow } from '../../../../api/store/journal/index.ts';
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
  // The samples stay in the journal until their rows are written.
  const [left] = (await second.store.journal.runs()) as [RunRow];
  expect(await second.store.journal.segment(left.run, left.oldest).next()).toMatchObject({ done: false });
  await held.release();
});

test('Journal: the database refuses the rows of a killed process: its samples become dead letters', async () => {
  let isRefused = false;
  const first = await start({
    around: async ({ queries }, run) => {
      if (isRefused && queries.some(({ query }) => query.startsWith('INSERT INTO message '))) throw REFUSED;
      return run();
    },
  });
  await openJournal(first);
  await first.stop();
  started.splice(0);
  isRefused = true;
  const second = await start({ database: first.client, settings: { INGEST_JOURNAL: 'never' } });
  await takeOverAll(second);
  const [kept] = await second.storedDeadLetters();
  expect(JSON.parse(String(kept?.content?.payload))).toMatchObject([{ ts: NOW - 60_000, value: 0 }]);
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

test.each([
  ['the drain', (pipeline: MemoryPipeline) => pipeline.ingest.drain()],
  [
    'its last beat became old',
    async () => void jest.spyOn(JournalRun.prototype, 'isFresh').mockReturnValue(false),
  ],
])('Journal: its row is committed after %s: the message gets its own row', async (_, end) => {
  const writes = new HeldWrites();
  const pipeline = await start({ writes });
  await openJournal(pipeline);
  await pipeline.ingest.journal.flush(pipeline.keyOf('first').id);
  const held = writes.hold({ write: 'write_journal' });
  const measured = measure(pipeline, 'd', NOW - 50_000, 1);
  await held.reached();
  await end(pipeline);
  await held.release();
  await measured;
  jest.restoreAllMocks();
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
  const [writing] = samples.find('d') as [WaitingDevice];
  samples.startWriting(writing);
  expect(samples.segment).toBe(4);
  samples.endWriting(writing);
  expect(samples.segment).toBe(5);
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

/** @returns the requests that change the journal, in order */
function recordingStore(runs: () => Partial<RunRow>[] = () => []) {
  const requests: string[] = [];
  const store = {
    runs: async () => runs(),
    segment: () => [],
    writeRun: async ({ oldest, newest, ended }: RunRow) =>
      requests.push(`${ended ? 'end' : 'beat'} ${oldest}-${newest}`),
    removeSegment: async (_: Buffer, number: number) => requests.push(`remove ${number}`),
    removeRun: async () => requests.push('remove'),
  };
  return { requests, store: store as unknown as JournalStore };
}

test('JournalRun: a segment is full: the next one is announced before its first row, and rows in flight stay', async () => {
  const { requests, store } = recordingStore();
  const run = new JournalRun({ store, process: 'p', first: 1, beatMs: 60_000 });
  const append = () => run.append(performance.now() + 20_000, 1, () => null as never).segment;
  const first = append();
  expect(append()).toBe(first);
  await run.beat();
  expect(append().number).toBe(2);
  run.settle(first);
  await run.removeWritten(null);
  expect(requests).toEqual(['beat 1-2']);
  run.settle(first);
  await run.removeWritten(1);
  await run.removeWritten(null);
  await run.end(false);
  expect(requests).toEqual(['beat 1-2', 'remove 1', 'end 2-2']);
});

test('JournalRun: its last beat is old: another process may have taken it over, so it changes nothing more', async () => {
  const { requests, store } = recordingStore();
  const run = new JournalRun({ store, process: 'p', first: 1, beatMs: 0 });
  await run.beat();
  await run.beat();
  await run.end(true);
  expect(requests).toEqual(['beat 1-2']);
});

test('JournalTakeover: a beat stays the same for 20 beats: the journal is taken over, and not before', async () => {
  jest.useFakeTimers();
  let beat = 1;
  const run = Buffer.alloc(16);
  const { requests, store } = recordingStore(() => [{ run, process: 'p', oldest: 1, newest: 2, beat }]);
  const leases = { take: async () => true, renew: async () => true, release: async () => {} };
  const logger = { info() {}, debug() {}, error() {} };
  const deps = { own: store, store, leases: leases as never, isOwn: () => false, write: async () => {} };
  const takeover = new JournalTakeover({ ...deps, process: 'second', beatMs: 1000, logger });
  takeover.start();
  await jest.advanceTimersByTimeAsync(19_000);
  beat++;
  await jest.advanceTimersByTimeAsync(19_000);
  expect(requests).toEqual([]);
  await jest.advanceTimersByTimeAsync(6000);
  expect(requests).toEqual(['remove 1', 'remove 2', 'remove']);
  jest.useRealTimers();
  await takeover.stop(0);
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
