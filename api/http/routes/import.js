import { z } from 'zod';
import { MillraceError } from '../../../common/errors.js';
import { importParquet, importStream } from '../../import/index.js';
import { closeUnread, codingOf } from '../body.js';
import { json } from '../contract/operation.js';
import { SCHEMAS } from '../contract/schemas/index.js';
import { abortOnClose } from '../long-requests.js';
import { digits, fields, parseDevice, readQuery } from '../parameters.js';
import { chunksOf, withUpload } from '../uploads.js';

/** @import { Request, RequestHandler } from 'express' */
/** @import { RefusedLine } from '../../import/importer.js' */
/** @import { ImportOptions, Imported } from '../../import/index.js' */
/** @import { RouteDeps } from '../api.js' */
/** @import { Operation } from '../contract/operation.js' */
/** @import { ConcurrencyLimit } from '../long-requests.js' */

/** Limit of refused lines that an answer lists. Its count includes further refused lines. */
const MAX_LISTED = 1000;

const QUERY = {
  device: fields.id.meta({
    description: 'The device of all rows, if the file does not name it: a UUID in lower case, or a name.',
    example: 'old-logger',
  }),
  dry_run: z.enum(['true', 'false'], 'true or false').default('false').meta({
    description: 'With `true` the API stores nothing, and shows the first samples as they would be stored.',
  }),
  skip: digits(0, 999_999_999).default(0).meta({
    description:
      'Rows at the beginning that are stored already. The answer has the number to continue with in `rows`.',
  }),
};

/** File formats by media type. */
const FORMATS = /** @type {const} */ ({
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  'application/vnd.apache.parquet': 'parquet',
});

/**
 * `POST /import`: stores a file of old measurements at their original times.
 *
 * @param {RouteDeps & { limits: { imports: ConcurrencyLimit } }} deps
 * @returns {RequestHandler}
 */
export const postImport = (deps) => async (req, res) => {
  const { device, dry_run: dryRun, skip } = readQuery(req, QUERY);
  if (device !== undefined) parseDevice(device);
  closeUnread(req, res);
  // This refuses compressed bodies, because the parser of each format reads the raw bytes.
  codingOf(req, res, false);
  const type = Object.entries(FORMATS).find(([media]) => req.is(media));
  if (!type) throw new MillraceError('unknown_format', `Send one of ${Object.keys(FORMATS).join(', ')}.`);
  const release = deps.limits.imports.acquire();
  /** @type {RefusedLine[]} */
  const refused = [];
  try {
    await abortOnClose(res, async (signal) => {
      /** @type {ImportOptions} */
      const options = {
        device,
        skip,
        dryRun: dryRun === 'true',
        signal,
        onRefused(line) {
          if (refused.length < MAX_LISTED) refused.push(line);
        },
        onProgress: () => {},
      };
      const { progress, first } = await run(deps, req, type[1], options);
      if (!options.dryRun) deps.metrics.importedSamples.inc({ format: type[1] }, progress.samples);
      res.json({ ...progress, refused_lines: refused, first: options.dryRun ? first : [] });
    });
  } finally {
    release();
  }
};

/** @param {RouteDeps} deps @param {Request} req @param {typeof FORMATS[keyof typeof FORMATS]} format @param {ImportOptions} options @returns {Promise<Imported>} */
async function run({ importer, dataDir, maxImportBytes }, req, format, options) {
  if (format !== 'parquet') return importStream(importer, { source: chunksOf(req), format }, options);
  // A Parquet file is first stored as a whole, because its footer is at its end.
  return withUpload(req, { dataDir, limit: maxImportBytes }, (file) =>
    importParquet(importer, file, options),
  );
}

/** @type {Operation} */
export const importSamples = {
  id: 'importSamples',
  tag: 'measurements',
  scope: 'ingest',
  summary: 'Stores a file of old measurements at their original times',
  description: `CSV and NDJSON have one sample a row (\`ts\`, \`device\`, \`sensor\`, \`value\`, optional \`type\` and \`unit\`), or
a column or member for each sensor. Both may have \`site\`. Parquet files have the same columns. A sensor that is new gets the type and the unit
of its first row, and a device that is new its site.
Hours that are closed go straight into history. The answer comes after the commit. The same file twice changes nothing.

A request must arrive within the time limit of a request, and a Parquet file may have \`IMPORT_MAX_BYTES\`. Send a larger file in pieces, each with the line of column names, or use
\`npm run import\`. After a failure send the file again.`,
  query: QUERY,
  body: {
    'text/csv': {
      text: 'The first line names the columns.',
      example: 'time,temperature\n2025-03-01T00:00:00Z,21.5\n',
    },
    'application/x-ndjson': {
      text: 'An object a line.',
      example: '{"ts":"2025-03-01T00:00:00Z","device":"old-logger","sensor":"temperature","value":21.5}\n',
    },
    'application/vnd.apache.parquet': { text: 'A Parquet file.' },
  },
  answers: { 200: json(SCHEMAS.Imported) },
  problems: [
    'bad_parameter',
    'bad_id',
    'bad_file',
    'too_large',
    'unknown_format',
    'registration_limit',
    'busy',
    'unavailable',
  ],
};
