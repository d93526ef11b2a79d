import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { MillraceError } from '../../../common/errors.js';
import { bucketOf, DAY_MS, HOUR_MS, PACK_DELAY_MS } from '../../../schema/rules.js';
import { watchMemory, withPeakMemory } from '../measure/machine.js';
import { loadAll } from '../reading/data.js';
import { createHttpReader } from '../reading/http.js';
import { figure } from '../report/table.js';

/** @import { Environment } from '../environment/index.js' */
/** @import { Part } from './index.js' */

/** The samples of one sensor. @typedef {{ days: number, intervalMs: number }} Sizes */

/** @type {Sizes} */
const SIZES = { days: 365, intervalMs: 1000 };

/** Time at the old end of the retention that is left out, in ms. Otherwise hours could expire before the import ends. */
const SPARE_MS = 4 * HOUR_MS;

const IMPORT = fileURLToPath(new URL('../../../api/commands/import/index.js', import.meta.url));

/** A module that makes a process print its maximum memory at the end, in KiB. */
const PEAK =
  "data:text/javascript,process.once('exit',()=>console.log('peak:'+process.resourceUsage().maxRSS))";

/** The keyspace into which the file is imported. */
const COPY = 'files-copy';

/** An export or import of the file: its seconds, and `mb`: the maximum memory of its process. @typedef {{ seconds: number, mb: number }} Way */

/**
 * Exports a year of a sensor as a Parquet file over HTTP, and imports the file twice into an empty keyspace. Nothing else runs.
 *
 * @param {Sizes} sizes
 * @returns {Part<Result>}
 */
export const createFilesPart = ({ days, intervalMs }) => ({
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

/** @param {string} label @param {number} samples @param {Way} way @param {string} [before] */
const rowOf = (label, samples, { seconds, mb }, before = '-') => [
  label,
  figure(seconds),
  figure(samples / seconds / 1000),
  figure(mb),
  before,
];

/**
 * @typedef {object} Result
 * @property {number} samples
 * @property {number} bytes size of the file
 * @property {number} before memory of the HTTP process before the export, in MB
 * @property {Way} out the export
 * @property {Way} first the first import
 * @property {Way} again the second import of the same file
 */

/**
 * Downloads an export into a file.
 *
 * @param {string} url URL of the API
 * @param {{ from: number, to: number }} range epoch ms
 * @param {string} path path of the file
 * @returns {Promise<number>} duration in seconds
 */
async function download(url, { from, to }, path) {
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

/**
 * Runs `npm run import`. The time includes the start and the end of the process.
 *
 * @param {Environment} environment
 * @param {string} path
 * @param {number} samples number of samples in the file
 * @returns {Promise<Way>}
 * @throws {MillraceError} `failed`: the import did not store all samples
 */
async function importFile({ dir, settings }, path, samples) {
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
