import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { MillraceError } from '../../../common/errors.ts';
import { bucketOf, DAY_MS, HOUR_MS, PACK_DELAY_MS } from '../../../schema/rules.ts';
import type { Environment } from '../environment/index.ts';
import { watchMemory, withPeakMemory } from '../measure/machine.ts';
import { loadAll } from '../reading/data.ts';
import { createHttpReader } from '../reading/http.ts';
import { figure } from '../report/table.ts';
import type { Part } from './index.ts';

type Sizes = { days: number; intervalMs: number };

const SIZES: Sizes = { days: 365, intervalMs: 1000 };

/** Time left out at the old end of the retention. Otherwise hours could expire before the import ends. */
const SPARE_MS = 4 * HOUR_MS;

const IMPORT = fileURLToPath(new URL('../../../api/features/import/command/index.ts', import.meta.url));

/** Makes a process print its maximum memory at the end, in KiB. */
const PEAK =
  "data:text/javascript,process.once('exit',()=>console.log('peak:'+process.resourceUsage().maxRSS))";

const COPY = 'files-copy';

/** `mb`: the maximum memory of the process */
type Way = { seconds: number; mb: number };

/** Exports a year of a sensor as a Parquet file over HTTP, and imports the file twice into an empty keyspace. Nothing else runs. */
export const createFilesPart = ({ days, intervalMs }: Sizes): Part<Result> => ({
  name: 'files',
  title: 'A year of a sensor at 1 Hz as a Parquet file, out and in, while nothing else runs',

  async run({ environment, status }) {
    const to = bucketOf(Date.now()) - PACK_DELAY_MS;
    const range = { from: to - days * DAY_MS + SPARE_MS, to };
    const loaded = [{ seed: 1, sensors: 1, ...range, intervalMs }];
    const samples = await loadAll(await environment.prepare('files'), loaded, status);
    await environment.prepare(COPY);
    const line = await environment.pipeline('files');
    const front = await environment.front(line);
    const path = resolve(environment.dir, 'year.parquet');
    try {
      status('export of a day');
      await download(front.url, { from: to - DAY_MS, to }, path);
      const memory = watchMemory(front.pid);
      await memory.look();
      status('export');
      const { value: seconds, mb } = await withPeakMemory(front.pid, download(front.url, range, path));
      const { size } = await stat(path);
      status('import');
      const first = await importFile(environment, path, samples);
      status('the same import again');
      const again = await importFile(environment, path, samples);
      const before = Number(memory.points[0]?.mb);
      return { samples, bytes: size, before, out: { seconds, mb }, first, again };
    } finally {
      await rm(path, { force: true });
      await environment.close('files-front');
      await environment.close('files');
    }
  },

  tables: ({ samples, bytes, before, out, first, again }) => [
    {
      head: [
        `${figure(samples / 1e6)} million samples, ${figure(bytes / 1e6)} MB`,
        's',
        'thousand samples/s',
        'process, MB',
        'before, MB',
      ],
      rows: [
        rowOf('export over HTTP', samples, out, figure(before)),
        rowOf('`npm run import`', samples, first),
        rowOf('the same again', samples, again),
      ],
    },
  ],
});

export const files = createFilesPart(SIZES);

const rowOf = (label: string, samples: number, { seconds, mb }: Way, before: string = '-') => [
  label,
  figure(seconds),
  figure(samples / seconds / 1000),
  figure(mb),
  before,
];

interface Result {
  samples: number;
  /** size of the file */
  bytes: number;
  /** memory of the HTTP process before the export, in MB */
  before: number;
  out: Way;
  first: Way;
  again: Way;
}

/** @param range epoch ms @returns seconds */
async function download(
  url: string,
  { from, to }: { from: number; to: number },
  path: string,
): Promise<number> {
  const http = createHttpReader(url);
  const began = performance.now();
  try {
    const answer = await http.open(`/api/v1/export?from=${from}&to=${to}`, 'application/vnd.apache.parquet');
    await pipeline(answer, createWriteStream(path));
    return (performance.now() - began) / 1000;
  } finally {
    http.close();
  }
}

/** The time includes the start and the end of the process. @throws {MillraceError} `failed`: the import did not store all samples */
async function importFile({ dir, settings }: Environment, path: string, samples: number): Promise<Way> {
  const env = { ...process.env, ...settings(COPY), AUTO_REGISTER: 'true', DATA_DIR: dir };
  const began = performance.now();
  // This folder has no `.env`, so the import uses only these settings.
  const child = spawn(process.execPath, ['--import', PEAK, IMPORT, path], {
    cwd: dir,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  const seconds = (performance.now() - began) / 1000;
  if (!output.includes(` ${samples} samples stored, 0 refused`))
    throw new MillraceError('failed', `npm run import did not store ${samples} samples: ${output}${errors}`);
  return { seconds, mb: (Number(/^peak:(\d+)$/m.exec(output)?.[1]) * 1024) / 1e6 };
}
