import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { destinationOf, importParquet, importStream } from '../../../../api/features/import/files.ts';
import { encodeParquet, listSensors, readSensors } from '../../../../api/features/shared/columns/index.ts';
import { createReading } from '../../../../api/history/reading/index.ts';
import { isName } from '../../../../schema/ids.ts';
import { useDirectory } from '../../../support/directory.ts';
import { type MemoryPipeline, startMemoryPipeline } from '../../../support/system/memory-pipeline.ts';

const NOW = Date.UTC(2026, 10, 28, 12);
const BEGIN = NOW - 5 * 86_400_000;

let pipeline: Awaited<ReturnType<typeof startMemoryPipeline>>;
beforeAll(async () => {
  pipeline = await startMemoryPipeline({ clock: () => NOW });
});
afterAll(() => pipeline.stop());

async function store(text: string, { format = 'csv', ...options }: Record<string, unknown> = {}) {
  const refused: Record<string, unknown>[] = [];
  async function* source() {
    yield Buffer.from(text);
  }
  const { progress } = await importStream(
    destinationOf(pipeline.store, pipeline.ingest, pipeline.corrections),
    { source: source(), format: format as 'csv' },
    {
      device: undefined,
      skip: 0,
      dryRun: false,
      signal: new AbortController().signal,
      onRefused: (line) => refused.push(line),
      onProgress: () => {},
      ...options,
    },
  );
  return { ...progress, codes: refused.map(({ code }) => code) };
}

const isRegistered = async (device: string): Promise<boolean> =>
  (await pipeline.store.devices.device(pipeline.keyOf(device)))?.registeredAt !== undefined;

const AT = new Date(BEGIN).toISOString();

test.each([
  ['import', () => store(`ts,device,sensor,value\n${AT},ghost,s,"21,5"\nyesterday,ghost,s,1\n`)],
  ['MQTT', () => pipeline.measure('ghost', [{ sensor_id: 's', ts: 'yesterday', value: 1 }])],
  ['POST /measurements', () => pipeline.submit('ghost', [{ sensor_id: 's', ts: BEGIN, value: 'warm' }])],
])('%s: everything is refused: no device is registered', async (_, send) => {
  await send();
  expect(await isRegistered('ghost')).toBe(false);
});

test('Import that replaces: samples of open and closed hours: the file wins, is listed, and the old file changes nothing', async () => {
  const rowsOf = (values: number[]) =>
    [BEGIN, BEGIN + 1000, NOW - 1000].map((ts, index) => `${ts},fixed,s,${values[index]}\n`).join('');
  const csv = (values: number[]) => `ts,device,sensor,value\n${rowsOf(values)}`;
  const stored = async () => (await pipeline.samples('fixed', 's', BEGIN)).map(([, value]) => value);
  await store(csv([100, -5, 7]));
  const replacing = { by: 'test', reason: 'a file' };
  expect(await store(csv([21, 3, 6]), { replacing })).toMatchObject({ samples: 3, refused: 0 });
  expect(await stored()).toEqual([21, 3, 6]);
  expect((await pipeline.latest('fixed'))['s']).toEqual([NOW - 1000, 6]);
  await store(csv([100, -5, 7]));
  expect(await stored()).toEqual([21, 3, 6]);
  const range = { from: NOW - 1000, to: NOW + 1000 };
  const { corrections } = await pipeline.store.corrections.page(null, range, { before: null, limit: 10 });
  expect(corrections).toMatchObject([
    { kind: 'replace', samples: 3, from: BEGIN, to: NOW - 999, ...replacing },
  ]);
});

test('Import: a file names a new sensor by its name and by its id: both rows are samples of this sensor', async () => {
  const { id } = pipeline.keyOf('twin');
  const csv = `ts,device,sensor,value\n${BEGIN},twin,s,1\n${BEGIN + 1},${id},s,2\n`;
  expect(await store(csv)).toMatchObject({ samples: 2, refused: 0 });
  expect(await pipeline.samples('twin', 's', BEGIN)).toEqual([
    [BEGIN, 1],
    [BEGIN + 1, 2],
  ]);
});

const hostile = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
    fc
      .array(
        fc.constantFrom("'", '"', ',', ';', '=', '+', '-', '@', ' ', '\u00a0', 'a', '#', '.', '\\', '1', 'ä'),
        { minLength: 1, maxLength: 8 },
      )
      .map((chars) => chars.join('')),
  )
  .filter(isName);

const directory = useDirectory('round-trip');

/** `GET /export` of the last five days. */
function exportOf({ store }: MemoryPipeline): Promise<Buffer> {
  const range = { from: BEGIN - 1, to: NOW };
  const signal = new AbortController().signal;
  return buffer(encodeParquet(readSensors(createReading(store), listSensors(store, 4, {}), range, signal)));
}

test('Import of an export: hostile names: a second installation has the same devices, sensors, values, types, units and sites', async () => {
  const label = fc.option(hostile);
  const rows = fc.array(
    fc.record({
      device: hostile,
      sensor: hostile,
      type: label,
      unit: label,
      site: label,
      value: fc.double(),
    }),
    { minLength: 1, maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(rows, async (list) => {
      const first = await startMemoryPipeline({ clock: () => NOW });
      const second = await startMemoryPipeline({ clock: () => NOW });
      const path = join(directory, 'all.parquet');
      const options = {
        device: undefined,
        skip: 0,
        dryRun: false,
        signal: new AbortController().signal,
        onRefused() {},
        onProgress() {},
      };
      async function* source() {
        for (const [index, row] of list.entries())
          yield Buffer.from(`${JSON.stringify({ ts: BEGIN + index, ...row })}\n`);
      }
      try {
        await importStream(
          destinationOf(first.store, first.ingest, first.corrections),
          { source: source(), format: 'ndjson' },
          options,
        );
        const exported = await exportOf(first);
        await writeFile(path, exported);
        const file = await open(path);
        const { progress } = await importParquet(
          destinationOf(second.store, second.ingest, second.corrections),
          file,
          options,
        ).finally(() => file.close());
        expect(progress).toMatchObject({ refused: 0, merged: 0 });
        expect((await exportOf(second)).equals(exported)).toBe(true);
      } finally {
        await first.stop();
        await second.stop();
      }
    }),
    { numRuns: 10 },
  );
});
