import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { MillraceError } from '../../../common/errors.ts';
import type { CorrectionRequest } from '../../ingest/correction-log.ts';
import type { Corrections } from '../../ingest/corrections.ts';
import type { Ingest } from '../../ingest/index.ts';
import type { Store } from '../../store/index.ts';
import { type Imported, Importer, type Progress, type RefusedLine } from './importer.ts';
import { LocalTimes } from './local-times.ts';
import type { FileOptions } from './options.ts';
import { readParquet } from './parquet.ts';
import { PastSamples } from './past-samples.ts';
import type { Rows } from './rows.ts';
import { readCsv, readNdjson } from './text.ts';
import { Zone } from './zones.ts';

export type { Imported } from './importer.ts';
export { FILE_OPTIONS, parseFileOptions } from './options.ts';
export { PROPOSAL_BYTES, proposeOptions } from './proposal.ts';

/**
 * Import: stores old measurements from a file, or from a stream of CSV or NDJSON, at their original times. `api/ingest` commits the
 * samples.
 */

export type FileFormat = 'csv' | 'ndjson' | 'parquet';

const ENDINGS: Array<[ending: string, format: FileFormat]> = [
  ['.csv', 'csv'],
  ['.tsv', 'csv'],
  ['.ndjson', 'ndjson'],
  ['.jsonl', 'ndjson'],
  ['.parquet', 'parquet'],
];

/** @throws `bad_file` */
export function formatOf(path: string): FileFormat {
  const format = ENDINGS.find(([ending]) => path.toLowerCase().endsWith(ending))?.[1];
  if (format) return format;
  throw new MillraceError(
    'bad_file',
    `${path} ends in none of ${ENDINGS.map(([ending]) => ending).join(', ')}.`,
  );
}

export type ImportOptions = FileOptions & RunOptions;

interface RunOptions {
  /** device of all rows, if the file does not name it */
  device: string | undefined;
  /** rows at the start of the file that an earlier import has committed */
  skip: number;
  /** nothing is stored */
  dryRun: boolean;
  /** The samples replace stored ones. null: they do not. */
  replacing?: CorrectionRequest | null;
  onRefused: (line: RefusedLine) => void;
  onProgress: (progress: Progress) => void;
  /** aborts after the commit that is in progress */
  signal: AbortSignal;
}

/** Writes what a file has. */
export interface Destination {
  pastSamples: PastSamples;
  corrections: Corrections;
  acceptedTimes: Ingest['acceptedTimes'];
}

export const destinationOf = (
  store: Store,
  { writing, acceptedTimes }: Ingest,
  corrections: Corrections,
): Destination => ({
  pastSamples: new PastSamples({ store, writing }),
  corrections,
  acceptedTimes,
});

/** @throws `bad_file` */
export async function importFile(
  destination: Destination,
  { path, format }: { path: string; format: FileFormat },
  options: ImportOptions,
): Promise<Imported> {
  if (format !== 'parquet')
    return importStream(destination, { source: createReadStream(path), format }, options);
  const file = await open(path);
  try {
    return await importParquet(destination, file, options);
  } finally {
    await file.close();
  }
}

/** The caller opens and closes the file. @throws `bad_file` */
export const importParquet = (
  destination: Destination,
  file: FileHandle,
  options: ImportOptions,
): Promise<Imported> => importRows(destination, readParquet(file, options), options);

/** Imports while the source arrives. @throws `bad_file` */
export const importStream = (
  destination: Destination,
  { source, format }: { source: AsyncIterable<Buffer>; format: 'csv' | 'ndjson' },
  options: ImportOptions,
): Promise<Imported> =>
  importRows(destination, format === 'csv' ? readCsv(source, options) : readNdjson(source, options), options);

async function importRows(
  destination: Destination,
  rows: AsyncIterable<Rows>,
  options: ImportOptions,
): Promise<Imported> {
  const importer = new Importer({
    destination,
    times: await destination.acceptedTimes(),
    options,
  });
  for await (const some of withTimes(rows, options)) {
    if (some.end > options.skip) await importer.add(some);
    if (options.signal.aborted) break;
    // Other requests run between the parts of a file.
    await setImmediate();
  }
  return importer.end();
}

function withTimes(
  rows: AsyncIterable<Rows>,
  { time_format: format = 'iso', zone = 'UTC' }: ImportOptions,
): AsyncIterable<Rows> {
  const parsed = Zone.parse(zone);
  if (parsed === null) throw new MillraceError('bad_file', `${zone} is no zone.`);
  const isDefault = format === 'iso' && parsed.isFixed && parsed.candidates(0)[0] === 0;
  return isDefault ? rows : new LocalTimes({ format, zone: parsed }).convert(rows);
}
