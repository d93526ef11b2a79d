import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { parquetReadObjects } from 'hyparquet';
import { createDayWriter } from '../../../../api/features/parquet/day-writer.ts';
import { createDirectoryTarget } from '../../../../api/features/parquet/directory.ts';
import type { Samples } from '../../../../api/features/shared/columns/rows.ts';
import { each, labelsNamed, samplesOf } from '../../../support/features/labeled-samples.ts';

const DAY = Date.UTC(2026, 10, 21);
const HOUR = 3_600_000;
const MANIFEST = 'manifest/day=2026-11-21/3.json';

let directory = '';
let now = DAY;
let stored: Samples[] = [];
let written: string[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-days-'));
  now = DAY + 25 * HOUR;
  stored = [];
  written = [];
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const openWriter = (rowsPerFile = 100, target = createDirectoryTarget(directory)) =>
  createDayWriter({
    target,
    groups: 4,
    clock: () => now,
    readDay: () => each(stored),
    onFile: ({ path }) => written.push(path),
    rowsPerFile,
  });

const readManifest = () => JSON.parse(readFileSync(join(directory, MANIFEST), 'utf8'));

const readRows = (path: string) =>
  parquetReadObjects({ file: new Uint8Array(readFileSync(join(directory, path))).buffer });

const sensor = (device: string, count: number) =>
  samplesOf(
    labelsNamed({ device }),
    Array.from({ length: count }, (_, index) => [DAY + index * 1000, index]),
  );

test.each([
  [1, [1]],
  [10, [10]],
  [11, [10, 1]],
  [35, [10, 10, 10, 5]],
])('Parquet day writer: %i rows, at most ten per file: files of %j rows, in order', async (count, sizes) => {
  stored = [sensor('a', Math.ceil(count / 2)), sensor('b', Math.floor(count / 2))].filter(({ to }) => to > 0);
  await openWriter(10).write(3, DAY, false);
  const { files, rows } = readManifest();
  expect(rows).toBe(count);
  expect(files.map((file: Record<string, unknown>) => file.rows)).toEqual(sizes);
  const found = [];
  for (const { path, rows: length, first, last } of files) {
    const part = await readRows(path);
    const times = part.map(({ ts }) => ts.getTime());
    expect(part).toHaveLength(length);
    expect([Date.parse(first), Date.parse(last)]).toEqual([Math.min(...times), Math.max(...times)]);
    found.push(...part.map(({ device, ts }) => [device, ts.getTime()]));
  }
  expect(found).toEqual(stored.flatMap(({ labels, times }) => [...times].map((ts) => [labels.device, ts])));
});

test('Parquet day writer: a day is written again without changes: its files remain, and no file is written twice', async () => {
  stored = [sensor('a', 25)];
  await openWriter(10).write(3, DAY, false);
  const manifest = readManifest();
  stored = splitAt(sensor('a', 25), 7);
  expect(await openWriter(10).write(3, DAY, false)).toBe(false);
  expect(readManifest()).toEqual(manifest);
  expect(written).toHaveLength(3);
});

const splitAt = (samples: Samples, index: number): Samples[] => [
  { ...samples, to: index },
  { ...samples, from: index },
];

test('Parquet day writer: samples were added: the manifest lists the new files, and replaced files stay for an hour', async () => {
  const writer = openWriter(10);
  stored = [sensor('a', 15)];
  await writer.write(3, DAY, false);
  const [kept, old] = readManifest().files.map(({ path }: { path: string }) => path);
  stored = [sensor('a', 16)];
  expect(await writer.write(3, DAY, true)).toBe(true);
  const changed = readManifest();
  expect(changed.files[0].path).toBe(kept);
  expect(changed.replaced).toEqual([{ path: old, at: new Date(now).toISOString() }]);
  const listed = () => readdirSync(join(directory, 'data/day=2026-11-21'));
  now += HOUR - 1;
  expect(await writer.clean(3, DAY)).toBe(true);
  expect(listed()).toHaveLength(3);
  now += 1;
  expect(await writer.clean(3, DAY)).toBe(false);
  expect(listed()).toHaveLength(2);
  expect(readManifest()).toEqual({ ...changed, replaced: [] });
});

test('Parquet day writer: a write fails half-way: the manifest keeps the old files, and no unfinished file is left', async () => {
  stored = [sensor('a', 15)];
  await openWriter(10).write(3, DAY, false);
  const manifest = readManifest();
  const target = createDirectoryTarget(directory);
  stored = [sensor('b', 15)];
  let writes = 0;
  const failing = openWriter(10, {
    ...target,
    write: (path, chunks) =>
      writes++ === 0
        ? target.write(path, chunks)
        : target.write(path, [...chunks, Symbol('no bytes') as never]),
  });
  await expect(failing.write(3, DAY, false)).rejects.toThrow('no bytes');
  expect(readManifest()).toEqual(manifest);
  expect(readdirSync(join(directory, 'data/day=2026-11-21')).filter((name) => name.startsWith('.'))).toEqual(
    [],
  );
  await openWriter(10).write(3, DAY, false);
  expect(readManifest().rows).toBe(15);
  expect((await readRows(readManifest().files[0].path))[0]?.['device']).toBe('b');
});
