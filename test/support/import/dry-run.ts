import { importStream } from '../../../api/import/index.js';
import { parseFileOptions } from '../../../api/import/options.js';

/** @import { MergedLine, Progress, RefusedLine, StoredRow } from '../../../api/import/importer.js' */

/**
 * Imports a file as a dry run, without a database. Any device and sensor may be registered, and any time is accepted.
 *
 * @param {Buffer | string | AsyncIterable<Buffer>} content
 * @param {{ format?: 'csv' | 'ndjson', device?: string, times?: { oldest: number, newest: number }, [option: string]: any }} [options]
 * @returns {Promise<{ first: StoredRow[], refused: RefusedLine[], progress: Progress, mergedLines: MergedLine[] }>}
 */
export async function dryRun(content, { format = 'csv', device, times, ...options } = {}) {
  const look = async (/** @type {unknown} */ _, /** @type {string[]} */ refs) => ({
    device: null,
    known: new Map(refs.map((ref) => [ref, null])),
    refused: new Map(),
  });
  const ingest = /** @type {any} */ ({
    files: { look },
    acceptedTimes: async () => times ?? { oldest: 0, newest: Number.MAX_SAFE_INTEGER },
  });
  const source =
    typeof content === 'string' || Buffer.isBuffer(content) ? piecesOf(Buffer.from(content)) : content;
  /** @type {RefusedLine[]} */
  const refused = [];
  const imported = await importStream(
    ingest,
    { source, format },
    {
      ...parseFileOptions(options),
      device,
      skip: 0,
      dryRun: true,
      onRefused: (line) => refused.push(line),
      onProgress: () => {},
      signal: new AbortController().signal,
    },
  );
  return { ...imported, refused };
}

/** @param {Buffer} bytes @returns {AsyncGenerator<Buffer>} pieces that end within lines and characters */
async function* piecesOf(bytes) {
  for (let from = 0; from < bytes.length; from += 777) yield bytes.subarray(from, from + 777);
}
