import { createHash } from 'node:crypto';
import { HOUR_MS } from '../../../schema/rules.js';
import { encodeParquet } from '../../export/index.js';

/** @import { Samples } from '../../export/rows.js' */
/** @import { Target } from './directory.js' */

/** Limit of rows in a Parquet file. Further rows go to the next file. A whole file is in memory: 18 MiB with random values. */
export const ROWS_PER_FILE = 2 ** 21;

/** Time in ms after which a replaced file is removed. Readers that have read the previous manifest need the file until then. */
const KEEP_REPLACED_MS = HOUR_MS;

const DIGEST_LENGTH = 16;

/**
 * A file, as the manifest lists it.
 *
 * @typedef {object} ListedFile
 * @property {string} path from the root of the target; it ends with a digest of the content, so the content
 *   of a path never changes
 * @property {number} rows
 * @property {number} bytes
 * @property {string} first ISO 8601, time of the earliest row
 * @property {string} last ISO 8601, time of the latest row
 */

/**
 * The manifest of the Parquet files of one day and one group of devices.
 *
 * @typedef {object} Manifest
 * @property {'day'} kind
 * @property {string} day such as `2026-11-21`
 * @property {number} group
 * @property {number} groups number of groups of devices
 * @property {boolean} settled whether the files were written again a day after the day closed
 * @property {number} rows total rows of all files
 * @property {ListedFile[]} files together they have all rows of the day
 * @property {Array<{ path: string, at: string }>} replaced files that the manifest listed until `at`; they are removed an hour
 *   later
 */

/**
 * Returns a writer of Parquet files with a manifest: the samples of one day and one group of devices. The same samples give the
 * same files. The manifest is replaced after all its files exist, and the replaced files are removed later. So a reader of the
 * manifest always finds a whole day.
 *
 * @param {object} deps
 * @param {Target} deps.target
 * @param {number} deps.groups number of groups (`LATEST_GROUPS`)
 * @param {() => number} deps.clock epoch ms
 * @param {(group: number, day: number) => AsyncGenerator<Samples, void>} deps.readDay
 * @param {(file: ListedFile) => void} deps.onFile called for each file that was written
 * @param {number} [deps.rowsPerFile]
 */
export function createDayWriter({ target, groups, clock, readDay, onFile, rowsPerFile = ROWS_PER_FILE }) {
  /** @param {string} path @returns {Promise<Manifest | null>} */
  async function readManifest(path) {
    const text = await target.read(path);
    return text === null ? null : JSON.parse(text);
  }

  /** @param {string} path @param {Manifest | null} old @param {Manifest} manifest */
  async function writeManifest(path, old, manifest) {
    const text = JSON.stringify(manifest);
    if (text !== JSON.stringify(old)) await target.write(path, [Buffer.from(`${text}\n`)]);
  }

  /**
   * Removes the files that were replaced more than an hour ago.
   *
   * @param {Manifest['replaced']} replaced
   * @returns {Promise<Manifest['replaced']>} replaced files that still exist
   */
  async function removeOld(replaced) {
    const kept = [];
    for (const file of replaced) {
      if (clock() - Date.parse(file.at) < KEEP_REPLACED_MS) kept.push(file);
      else await target.remove(file.path);
    }
    return kept;
  }

  /** @param {string} name path without digest @param {AsyncIterable<Samples>} samples at least one item @returns {Promise<ListedFile>} */
  async function writeFile(name, samples) {
    const times = new Bounds();
    const hash = createHash('sha256');
    const chunks = [];
    let bytes = 0;
    for await (const chunk of encodeParquet(times.of(samples))) {
      chunks.push(chunk);
      hash.update(chunk);
      bytes += chunk.length;
    }
    const path = `${name}-${hash.digest('hex').slice(0, DIGEST_LENGTH)}.parquet`;
    const file = { path, rows: times.rows, bytes, first: isoOf(times.first), last: isoOf(times.last) };
    if (!(await target.has(path))) {
      await target.write(path, chunks);
      onFile(file);
    }
    return file;
  }

  return {
    /**
     * Writes the files and the manifest of a day. Existing files of the day are replaced.
     *
     * @param {number} group
     * @param {number} day start of the day, in epoch ms
     * @param {boolean} settled whether the day has settled: it closed a day ago
     * @returns {Promise<boolean>} whether replaced files wait to be removed
     */
    async write(group, day, settled) {
      const dayText = isoOf(day).slice(0, 10);
      const path = manifestPath(group, day);
      const old = await readManifest(path);
      /** @type {ListedFile[]} */
      const files = [];
      const portions = new Portions(readDay(group, day));
      while (await portions.hasMore()) {
        const name = `data/day=${dayText}/${group}-${files.length}`;
        files.push(await writeFile(name, portions.next(rowsPerFile)));
      }
      const listed = new Set(files.map((file) => file.path));
      const at = isoOf(clock());
      const gone = [...(old?.replaced ?? []), ...(old?.files ?? []).map((file) => ({ path: file.path, at }))];
      const replaced = gone.filter((file) => !listed.has(file.path));
      const rows = files.reduce((sum, file) => sum + file.rows, 0);
      /** @type {Manifest} */
      const manifest = { kind: 'day', day: dayText, group, groups, settled, rows, files, replaced };
      await writeManifest(path, old, manifest);
      return replaced.length > 0;
    },

    /**
     * Removes the files of a day that were replaced more than an hour ago.
     *
     * @param {number} group
     * @param {number} day epoch ms
     * @returns {Promise<boolean>} whether further replaced files wait to be removed
     */
    async clean(group, day) {
      const path = manifestPath(group, day);
      const old = await readManifest(path);
      if (!old) return false;
      const replaced = await removeOld(old.replaced);
      await writeManifest(path, old, { ...old, replaced });
      return replaced.length > 0;
    },
  };
}

/** @typedef {ReturnType<typeof createDayWriter>} DayWriter */

/** @param {number} ts epoch ms */
const isoOf = (ts) => new Date(ts).toISOString();

/** @param {number} group @param {number} day epoch ms */
const manifestPath = (group, day) => `manifest/day=${isoOf(day).slice(0, 10)}/${group}.json`;

/** Counts the rows of a stream of samples, and finds its time range. */
class Bounds {
  rows = 0;
  first = Number.POSITIVE_INFINITY;
  last = Number.NEGATIVE_INFINITY;

  /** @param {AsyncIterable<Samples>} source @returns {AsyncGenerator<Samples, void>} */
  async *of(source) {
    for await (const samples of source) {
      const { times, from, to } = samples;
      this.rows += to - from;
      // The samples of a sensor are in order of time.
      this.first = Math.min(this.first, Number(times[from]));
      this.last = Math.max(this.last, Number(times[to - 1]));
      yield samples;
    }
  }
}

/** Divides samples into portions of a given number of rows. */
class Portions {
  #source;
  /** @type {Samples | null} */
  #rest = null;

  /** @param {AsyncGenerator<Samples, void>} source without empty items */
  constructor(source) {
    this.#source = source;
  }

  async hasMore() {
    if (this.#rest) return true;
    const { done, value } = await this.#source.next();
    if (done) return false;
    this.#rest = /** @type {Samples} */ (value);
    return true;
  }

  /** @param {number} rows @returns {AsyncGenerator<Samples, void>} the next `rows` rows, or all remaining rows if there are fewer */
  async *next(rows) {
    for (let left = rows; left > 0 && (await this.hasMore()); ) {
      const samples = /** @type {Samples} */ (this.#rest);
      const end = Math.min(samples.to, samples.from + left);
      this.#rest = end < samples.to ? { ...samples, from: end } : null;
      left -= end - samples.from;
      yield { ...samples, to: end };
    }
  }
}
