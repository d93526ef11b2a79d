import { afterEach, expect, test } from '@jest/globals';
import cassandra from 'cassandra-driver';
import { LineDecoder } from '../../../../api/features/line-protocol/decoder.ts';
import { LineSkip } from '../../../../api/features/line-protocol/skip.ts';
import { storeLines } from '../../../../api/features/line-protocol/storing.ts';
import { usedBytes } from '../../../support/memory.ts';
import { type MemoryPipeline, startMemoryPipeline } from '../../../support/system/memory-pipeline.ts';

const NOW = Date.UTC(2026, 4, 5, 12);

let pipeline: MemoryPipeline;
afterEach(() => pipeline?.stop());

async function start() {
  pipeline = await startMemoryPipeline({ clock: () => NOW });
  return pipeline;
}

const submission = (payload: Buffer) => ({
  bytes: payload.length,
  read: async () => payload,
  signal: new AbortController().signal,
});

function submitLines(
  core: MemoryPipeline,
  text: string | Buffer,
  replacing: { by: string; reason: string } | null = null,
) {
  const payload = Buffer.from(text);
  const decoder = new LineDecoder({
    deviceTags: ['device'],
    skip: new LineSkip([]),
    emptyBatch: (receivedAt) => core.ingest.decoder.emptyBatch(receivedAt),
  });
  return storeLines(
    { ingest: core.ingest, corrections: core.corrections, context: core },
    submission(payload),
    ({ payload: bytes, receivedAt }) => decoder.decode(bytes, 'ms', receivedAt),
    replacing,
  );
}

test('Line protocol: several lines of a sensor without a timestamp: each value gets its own ms', async () => {
  const pipeline = await start();
  await submitLines(pipeline, 'm,device=d s=1\nm,device=d s=2\nm,device=d s=3\n');
  expect((await pipeline.samples('d', 'm.s', NOW)).map(([, value]) => value)).toEqual([1, 2, 3]);
});

test('Line protocol: replace=true: stored values are replaced, and a line without a timestamp is refused', async () => {
  const pipeline = await start();
  await submitLines(pipeline, `m,device=d s=9 ${NOW}\nm,device=e s=8 ${NOW}\n`);
  const lines = `m,device=d s=1 ${NOW}\nm,device=e s=2\nm,device=nobody s=3 ${NOW}\n`;
  const result = await submitLines(pipeline, lines, { by: 'test', reason: 'a line' });
  expect(result).toMatchObject({
    accepted: 1,
    refused: [
      { line: 2, code: 'bad_timestamp' },
      { line: 3, code: 'unknown_device' },
    ],
  });
  expect(await pipeline.samples('d', 'm.s', NOW)).toEqual([[NOW, 1]]);
  expect(await pipeline.samples('e', 'm.s', NOW)).toEqual([[NOW, 8]]);
});

test('HTTP submission: 100 posts of line protocol, each for a new device: their payloads do not stay in memory', async () => {
  const POSTS = 100;
  const POST_BYTES = 300_000;
  const pipeline = await start();
  const post = async (number: number) => {
    // The rest of the post is a comment.
    const payload = Buffer.from(`m,device=gateway-of-building-${number} v=1\n`.padEnd(POST_BYTES, '#'));
    const result = await submitLines(pipeline, payload);
    expect(result).toMatchObject({ accepted: 1, refused: [] });
  };
  await post(0);
  const before = usedBytes();
  for (let number = 1; number <= POSTS; number++) await post(number);
  expect(usedBytes() - before).toBeLessThan((POSTS * POST_BYTES) / 2);
});

test('Messages of a device in one ms without a timestamp: posted over HTTP, as JSON and line protocol: all values are stored', async () => {
  const pipeline = await start();
  for (const value of [1, 2]) await pipeline.submit('d', [{ sensor_id: 'm.s', value }]);
  for (const value of [3, 4]) await submitLines(pipeline, `m,device=d s=${value}\nm,device=e s=${value}\n`);
  expect((await pipeline.samples('d', 'm.s', NOW)).map(([, value]) => value)).toEqual([1, 2, 3, 4]);
  expect((await pipeline.samples('e', 'm.s', NOW)).map(([, value]) => value)).toEqual([3, 4]);
});

test('Line protocol: the database refuses one of three samples of a device: all three count as refused, none as merged', async () => {
  pipeline = await startMemoryPipeline({
    clock: () => NOW,
    async around({ table, kind }, run) {
      if (table === 'message' && kind !== 'select')
        throw new cassandra.errors.ResponseError(0x2200, 'the value is refused');
      return run();
    },
  });
  const result = await submitLines(
    pipeline,
    `m,device=d s=1 ${NOW}\nm,device=d s=2 ${NOW}\nm,device=d s=3 ${NOW + 1}\n`,
  );
  expect(result.accepted).toBe(0);
  expect(pipeline.ingest.processStats.measurements).toEqual({
    received: 3,
    stored: 0,
    merged: 0,
    refused: 3,
    skipped: 0,
  });
  expect(await pipeline.metric('iot_ingest_merged_total')).toBe(0);
});
