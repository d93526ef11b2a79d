import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { MillraceError } from '../../common/errors.js';
import { Importer } from './importer.js';
import { LocalTimes } from './local-times.js';
import { readParquet } from './parquet.js';
import { readCsv, readNdjson } from './text.js';
import { Zone } from './zones.js';

export { FILE_OPTIONS, parseFileOptions } from './options.js';
export { PROPOSAL_BYTES, proposeOptions } from './proposal.js';

/** @import { FileHandle } from 'node:fs/promises' */
/** @import { Ingest } from '../ingest/index.js' */
/** @import { MergedLine, Progress, RefusedLine, StoredRow } from './importer.js' */
/** @import { FileOptions } from './options.js' */
/** @import { Rows } from './rows.js' */

/**
 * Import: reads files of old measurements, and stores samples at their original times. Callers pass a file, or a stream of
 * CSV or NDJSON. `api/ingest` commits the samples.
 */

/** @typedef {'csv' | 'ndjson' | 'parquet'} FileFormat */

/** @type {Array<[ending: string, format: FileFormat]>} */
const ENDINGS = [
  ['.csv', 'csv'],
  ['.tsv', 'csv'],
  ['.ndjson', 'ndjson'],
  ['.jsonl', 'ndjson'],
  ['.parquet', 'parquet'],
];

/** @param {string} path @returns {FileFormat} @throws {MillraceError} `bad_file` */
export function formatOf(path) {
  const format = ENDINGS.find(([ending]) => path.toLowerCase().endsWith(ending))?.[1];
  if (format) return format;
  throw new MillraceError(
    'bad_file',
    `${path} ends in none of ${ENDINGS.map(([ending]) => ending).join(', ')}.`,
  );
}

/**
 * @typedef {FileOptions & RunOptions} ImportOptions
 *
 * @typedef {object} RunOptions
 * @property {string | undefined} device the device of all rows, if the file does not name it
 * @property {number} skip number of rows at the start of the file that an earlier import has committed
 * @property {boolean} dryRun true: nothing is stored
 * @property {(line: RefusedLine) => void} onRefused called for each refused sample or line
 * @property {(progress: Progress) => void} onProgress called after each commit
 * @property {AbortSignal} signal aborts the import after the commit that is in progress
 */

/** @typedef {{ progress: Progress, first: StoredRow[], mergedLines: MergedLine[] }} Imported `first`: the first samples as they are stored */

/**
 * Imports a file.
 *
 * @param {Pick<Ingest, 'files' | 'acceptedTimes'>} ingest
 * @param {{ path: string, format: FileFormat }} file
 * @param {ImportOptions} options
 * @returns {Promise<Imported>}
 * @throws {MillraceError} `bad_file`
 */
export async function importFile(ingest, { path, format }, options) {
  if (format !== 'parquet') return importStream(ingest, { source: createReadStream(path), format }, options);
  const file = await open(path);
  try {
    return await importParquet(ingest, file, options);
  } finally {
    await file.close();
  }
}

/**
 * Imports a Parquet file that the caller has opened.
 *
 * @param {Pick<Ingest, 'files' | 'acceptedTimes'>} ingest
 * @param {FileHandle} file
 * @param {ImportOptions} options
 * @returns {Promise<Imported>}
 * @throws {MillraceError} `bad_file`
 */
export const importParquet = (ingest, file, options) =>
  importRows(ingest, readParquet(file, options), options);

/**
 * Imports CSV or NDJSON while it arrives.
 *
 * @param {Pick<Ingest, 'files' | 'acceptedTimes'>} ingest
 * @param {{ source: AsyncIterable<Buffer>, format: 'csv' | 'ndjson' }} stream
 * @param {ImportOptions} options
 * @returns {Promise<Imported>}
 * @throws {MillraceError} `bad_file`
 */
export const importStream = (ingest, { source, format }, options) =>
  importRows(ingest, format === 'csv' ? readCsv(source, options) : readNdjson(source, options), options);

/**
 * @param {Pick<Ingest, 'files' | 'acceptedTimes'>} ingest
 * @param {AsyncIterable<Rows>} rows
 * @param {ImportOptions} options
 * @returns {Promise<Imported>}
 */
async function importRows(ingest, rows, options) {
  const importer = new Importer({ files: ingest.files, times: await ingest.acceptedTimes(), options });
  for await (const some of withTimes(rows, options)) {
    if (some.end > options.skip) await importer.add(some);
    if (options.signal.aborted) break;
    // Other requests run between the parts of a file.
    await setImmediate();
  }
  return importer.end();
}

/** @param {AsyncIterable<Rows>} rows @param {ImportOptions} options @returns {AsyncIterable<Rows>} */
function withTimes(rows, { time_format: format = 'iso', zone = 'UTC' }) {
  const parsed = Zone.parse(zone);
  if (parsed === null) throw new MillraceError('bad_file', `${zone} is no zone.`);
  const isDefault = format === 'iso' && parsed.isFixed && parsed.candidates(0)[0] === 0;
  return isDefault ? rows : new LocalTimes({ format, zone: parsed }).convert(rows);
}
