import { afterAll, beforeAll, expect, test } from '@jest/globals';
import cassandra from 'cassandra-driver';
import fc from 'fast-check';
import { HeldWrites } from '../../support/database/held-writes.ts';
import { type MemoryPipeline, startMemoryPipeline } from '../../support/system/memory-pipeline.ts';

const { OperationTimedOutError } = cassandra.errors;

/** `ts` in epoch ms */
type Sample = [ts: number, value: number];

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Math.floor(Date.now() / 1000) * 1000;
const FROM = NOW - 3 * DAY;

const writes = new HeldWrites();
let pipeline: MemoryPipeline;
/** The fate of each request: it fails before it is applied, fails after it, or succeeds. */
let fate: () => 'before' | 'after' | 'no' = () => 'no';
beforeAll(async () => {
  pipeline = await startMemoryPipeline({
    // Writes that are held make the process busy, and a journal would overtake them.
    settings: { INGEST_JOURNAL: 'never' },
    writes,
    async around({ kind }, run) {
      const failure = kind === 'select' ? 'no' : fate();
      if (failure === 'before') throw timeout();
      const result = await run();
      if (failure === 'after') throw timeout();
      return result;
    },
  });
});
afterAll(() => pipeline?.stop());

const timeout = () => new OperationTimedOutError('no answer in time', '127.0.0.1:9042');

const measure = (device: string, samples: Sample[], sensor: string = 's') =>
  pipeline.measure(
    device,
    samples.map(([ts, value]) => ({ sensor_id: sensor, ts, value })),
  );

/** Merges samples: one value for each instant, of two values the one with the greater bytes. */
function merged(samples: Sample[]): Sample[] {
  const values: Map<number, number> = new Map();
  for (const [ts, value] of samples) {
    const known = values.get(ts);
    if (known === undefined || Buffer.compare(bytesOf(value), bytesOf(known)) > 0) values.set(ts, value);
  }
  return [...values].sort(([a], [b]) => a - b);
}

function bytesOf(value: number) {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes;
}

const sample = () =>
  fc.tuple(
    // There are few instants, so that messages overlap. Some instants lie in late hours.
    fc.integer({ min: 0, max: 30 }).map((step) => NOW - step * 17 * 60_000),
    fc.integer({ min: -3, max: 3 }),
  );

const plan = fc.record({
  messages: fc.array(
    fc.record({
      sensor: fc.constantFrom('a', 'b', 'c'),
      samples: fc.array(sample(), { minLength: 1, maxLength: 6 }),
    }),
    { minLength: 1, maxLength: 12 },
  ),
  failures: fc.array(fc.constantFrom('no' as const, 'before', 'after'), { maxLength: 4 }),
});

test('Ingest: overlapping concurrent messages and failing writes: all samples are stored, and the latest value is the newest', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(plan, async ({ messages, failures }) => {
      const device = `any-${run++}`;
      const left = [...failures];
      fate = () => left.pop() ?? 'no';
      const outcomes = messages.map(({ sensor, samples }) => measure(device, samples, sensor));
      expect(await Promise.all(outcomes)).toEqual(messages.map(() => 'accepted'));
      const latest = await pipeline.latest(device);
      for (const sensor of new Set(messages.map((message) => message.sensor))) {
        const expected = merged(messages.flatMap((one) => (one.sensor === sensor ? one.samples : [])));
        expect(await pipeline.samples(device, sensor, FROM)).toEqual(expected);
        expect(latest[sensor]).toEqual(expected.at(-1));
      }
    }),
    { numRuns: 8 },
  );
  fate = () => 'no';
});

test.each([
  ['an older instant', NOW - 1000, 9],
  ['the same instant and a smaller value', NOW, 1],
])(
  'Ingest: %s is committed later: latest and live readers have the newest value',
  async (title, ts, value) => {
    const device = title.replaceAll(' ', '-');
    await measure(device, [[NOW - DAY, 0]]);
    pipeline.published.length = 0;
    const held = writes.hold({ write: 'write_latest' });
    const newest = measure(device, [[NOW, 2]]);
    await held.reached();
    const overtaken = measure(device, [[ts, value]]);
    await writes.quiet();
    await held.release();
    await Promise.all([newest, overtaken]);
    expect(pipeline.published).toEqual([{ sensor: 's', value: 2 }]);
    expect(await pipeline.latest(device)).toEqual({ s: [NOW, 2] });

    // The memory of ingest has the newest value as well, so an older value is not published.
    await measure(device, [[NOW - 500, 7]]);
    expect(pipeline.published).toHaveLength(1);
  },
);

const element = { sensor_id: 's', ts: NOW, value: 1 };

test('Ingest: a live message, then a retained message: last_seen is the receipt time of the live message', async () => {
  await pipeline.measure('seen', [element], { receivedAt: NOW });
  expect(await pipeline.lastSeen('seen')).toBe(NOW);
  // A later replay does not show that the device is active now.
  await pipeline.measure('seen', [element], { retained: true, receivedAt: NOW + HOUR });
  expect(await pipeline.lastSeen('seen')).toBe(NOW);
});

const counted = async (name: string) => Number(await pipeline.metric(`iot_ingest_${name}_total`));

test('Ingest metrics: samples without an absolute time: each is counted in iot_ingest_relative_times_total', async () => {
  const before = await counted('relative_times');
  await pipeline.measure('relative', [
    { sensor_id: 's', value: 1 },
    { sensor_id: 't', value: 2 },
    { sensor_id: 'u', ts: NOW, value: 3 },
  ]);
  expect((await counted('relative_times')) - before).toBe(2);
  await pipeline.measure('relative', [
    { n: 's', t: -5, v: 1 },
    { n: 's', t: NOW / 1000, v: 1 },
  ]);
  expect((await counted('relative_times')) - before).toBe(3);
});
