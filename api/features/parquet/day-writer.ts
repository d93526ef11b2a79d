import { createHash } from 'node:crypto';
import { HOUR_MS } from '../../../schema/rules.ts';
import { DATA_SET_LABELS, encodeParquet } from '../shared/columns/index.ts';
import type { Samples } from '../shared/columns/rows.ts';
import type { Target } from './directory.ts';

/** Further rows go to the next file. A whole file is in memory: 18 MiB with random values. */
export const ROWS_PER_FILE = 2 ** 21;

/** In ms. Readers that have read the previous manifest need the replaced file until then. */
const KEEP_REPLACED_MS = HOUR_MS;

const DIGEST_LENGTH = 16;

interface ListedFile {
  /** from the root of the target; it ends with a digest of the content, so the content of a path never changes */
  path: string;
  rows: number;
  bytes: number;
  /** time of the earliest row, ISO 8601 */
  first: string;
  /** time of the latest row, ISO 8601 */
  last: string;
}

/** The Parquet files of one day and one group of devices. */
interface Manifest {
  kind: 'day';
  /** such as `2026-11-21` */
  day: string;
  group: number;
  groups: number;
  /** the files were written again a day after the day closed */
  settled: boolean;
  rows: number;
  /** together they have all rows of the day */
  files: ListedFile[];
  /** listed until `at`, and removed an hour later */
  replaced: Array<{ path: string; at: string }>;
}

/**
 * The same samples give the same files. The manifest is replaced after all its files exist, and the replaced files are removed later. So a
 * reader of the manifest always finds a whole day.
 */
export function createDayWriter({
  target,
  groups,
  clock,
  readDay,
  onFile,
  rowsPerFile = ROWS_PER_FILE,
}: {
  target: Target;
  groups: number;
  clock: () => number;
  readDay: (group: number, day: number) => AsyncGenerator<Samples, void>;
  onFile: (file: ListedFile) => void;
  rowsPerFile?: number;
}) {
  async function readManifest(path: string): Promise<Manifest | null> {
    const text = await target.read(path);
    return text === null ? null : JSON.parse(text);
  }

  async function writeManifest(path: string, old: Manifest | null, manifest: Manifest) {
    const text = JSON.stringify(manifest);
    if (text !== JSON.stringify(old)) await target.write(path, [Buffer.from(`${text}\n`)]);
  }

  /** Returns the files that are too young to be removed. */
  async function removeOld(replaced: Manifest['replaced']): Promise<Manifest['replaced']> {
    const kept = [];
    for (const file of replaced) {
      if (clock() - Date.parse(file.at) < KEEP_REPLACED_MS) kept.push(file);
      else await target.remove(file.path);
    }
    return kept;
  }

  async function writeFile(name: string, samples: AsyncIterable<Samples>): Promise<ListedFile> {
    const times = new Bounds();
    const hash = createHash('sha256');
    const chunks = [];
    let bytes = 0;
    for await (const chunk of encodeParquet(times.of(samples), DATA_SET_LABELS)) {
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
    /** Replaces the files of a day (epoch ms). `settled`: the day closed a day ago. True: replaced files wait to be removed. */
    async write(group: number, day: number, settled: boolean): Promise<boolean> {
      const dayText = isoOf(day).slice(0, 10);
      const path = manifestPath(group, day);
      const old = await readManifest(path);
      const files: ListedFile[] = [];
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
      const manifest: Manifest = { kind: 'day', day: dayText, group, groups, settled, rows, files, replaced };
      await writeManifest(path, old, manifest);
      return replaced.length > 0;
    },

    /** Removes files of the day that were replaced more than an hour ago. True: further ones wait. */
    async clean(group: number, day: number): Promise<boolean> {
      const path = manifestPath(group, day);
      const old = await readManifest(path);
      if (!old) return false;
      const replaced = await removeOld(old.replaced);
      await writeManifest(path, old, { ...old, replaced });
      return replaced.length > 0;
    },
  };
}

export type DayWriter = ReturnType<typeof createDayWriter>;

const isoOf = (ts: number) => new Date(ts).toISOString();

const manifestPath = (group: number, day: number) => `manifest/day=${isoOf(day).slice(0, 10)}/${group}.json`;

class Bounds {
  rows = 0;
  first = Number.POSITIVE_INFINITY;
  last = Number.NEGATIVE_INFINITY;

  async *of(source: AsyncIterable<Samples>): AsyncGenerator<Samples, void> {
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

class Portions {
  #source;
  #rest: Samples | null = null;

  /** `source`: without empty items. */
  constructor(source: AsyncGenerator<Samples, void>) {
    this.#source = source;
  }

  async hasMore() {
    if (this.#rest) return true;
    const { done, value } = await this.#source.next();
    if (done) return false;
    this.#rest = value as Samples;
    return true;
  }

  async *next(rows: number): AsyncGenerator<Samples, void> {
    for (let left = rows; left > 0 && (await this.hasMore()); ) {
      const samples = this.#rest as Samples;
      const end = Math.min(samples.to, samples.from + left);
      this.#rest = end < samples.to ? { ...samples, from: end } : null;
      left -= end - samples.from;
      yield { ...samples, to: end };
    }
  }
}
