import { afterEach, beforeEach, expect, test } from '@jest/globals';
import cassandra from 'cassandra-driver';
import { Completion } from '../../../../api/features/corrections/completion.ts';
import type { Correction } from '../../../../api/store/corrections.ts';
import { DAY_MS, HOUR_MS } from '../../../../schema/rules.ts';
import { correctionsOf } from '../../../support/features/corrections.ts';
import { type MemoryPipeline, startMemoryPipeline } from '../../../support/system/memory-pipeline.ts';

const { OperationTimedOutError } = cassandra.errors;

const NOW = Date.UTC(2026, 4, 5, 12, 30);
const MINUTE_MS = 60_000;
const clock = { now: NOW };

let pipeline: MemoryPipeline;
let started: MemoryPipeline[] = [];
let reported: Correction[] = [];

/** Starts a process on the same database, which reports corrections. */
async function start(options: Parameters<typeof startMemoryPipeline>[0] = {}) {
  const process = await startMemoryPipeline({ clock: () => clock.now, ...options });
  started.push(process);
  process.corrections.log.onCorrected((correction) => void reported.push(correction));
  const steps = { run: <T>(step: () => Promise<T>) => step() };
  const { corrections } = process.store;
  return { process, completion: new Completion({ corrections, log: process.corrections.log, steps }) };
}

beforeEach(async () => {
  clock.now = NOW;
  [started, reported] = [[], []];
  ({ process: pipeline } = await start());
});
afterEach(() => Promise.all(started.map((process) => process.stop())));

const sample = (ts: number, value: number) => ({ sensor_id: 's', ts, value });
const listed = async () => {
  const range = { from: NOW - DAY_MS, to: NOW + DAY_MS };
  return (await pipeline.store.corrections.page(null, range, { before: null, limit: 100 })).corrections;
};

/** The process ends in its first listener. */
async function endInListener(work: (corrections: ReturnType<typeof correctionsOf>) => Promise<unknown>) {
  const ending = await startMemoryPipeline({ clock: () => clock.now, database: pipeline.client });
  started.push(ending);
  ending.corrections.log.onCorrected(async () => {
    ending.ingest.abort();
    throw new OperationTimedOutError('the process ends');
  });
  await work(correctionsOf(ending, () => clock.now)).catch(() => {});
}

test.each(['replace', 'remove', 'undo'] as const)(
  'Correction (%s): its process ends between the commit and the listeners: another process reports it once',
  async (kind) => {
    await pipeline.measure('device', [sample(NOW, 100)]);
    if (kind === 'undo') {
      await correctionsOf(pipeline, () => clock.now).remove('device');
      clock.now += 1;
    }
    reported = [];
    await endInListener((corrections) => {
      if (kind === 'undo') return corrections.undo();
      return kind === 'replace'
        ? corrections.replace('device', [sample(NOW, 21)])
        : corrections.remove('device');
    });
    expect(reported).toEqual([]);
    const { completion } = await start({ database: pipeline.client });
    await completion.round();
    // The process might still run.
    expect(reported).toEqual([]);
    clock.now += 11 * MINUTE_MS;
    await completion.round();
    expect(reported).toMatchObject([{ kind, samples: 1, from: expect.any(Number) }]);
    await completion.round();
    await (await start({ database: pipeline.client })).completion.round();
    expect(reported).toHaveLength(1);
    expect((await listed())[0]).toMatchObject({ kind, samples: 1, runningUntil: 0 });
  },
);

test('Correction: its process ended six days ago: a process that starts reports it', async () => {
  await pipeline.measure('device', [sample(NOW, 100)]);
  await endInListener((corrections) => corrections.replace('device', [sample(NOW, 21)]));
  clock.now += 6 * DAY_MS;
  await (await start({ database: pipeline.client })).completion.round();
  expect(reported).toMatchObject([{ kind: 'replace' }]);
});

test('Removal: another process takes it for ended: its own last entry stays', async () => {
  await pipeline.measure('device', [sample(NOW, 100)]);
  const { log } = pipeline.corrections;
  const device = await pipeline.ingest.writing.registry.findNow(pipeline.keyOf('device'));
  if (!device) throw new Error('the device is not registered');
  const entry = { kind: 'remove' as const, sensors: ['a', 'b'], from: NOW, to: NOW + HOUR_MS, samples: 0 };
  const removal = await log.list(device, { ...entry, by: 'test', reason: null });
  clock.now += 11 * MINUTE_MS;
  const read = await pipeline.store.corrections.find(removal.id);
  if (!read) throw new Error('the removal is not listed');
  await log.finish({ ...removal, sensors: ['a'], samples: 7 });
  await log.complete(read);
  expect(await listed()).toMatchObject([{ sensors: ['a'], samples: 7, runningUntil: 0 }]);
});
