import type { Request, RequestHandler } from 'express';
import { z } from 'zod';
import { charsetOf } from '../../../common/encodings.ts';
import { MillraceError } from '../../../common/errors.ts';
import { formatTime } from '../../../common/times.ts';
import type { Core } from '../../feature.ts';
import type { Operation } from '../../http/contract/operation.ts';
import {
  abortOnClose,
  bodyOf,
  closeUnread,
  codingOf,
  digits,
  fields,
  json,
  parseDevice,
  readQuery,
  requireScope,
  toCorrectionRequest,
} from '../../http/index.ts';
import type { ConcurrencyLimit } from '../../http/long-requests.ts';
import type { Route } from '../../http/route.ts';
import type { Metrics } from '../../observability/metrics.ts';
import {
  type Destination,
  FILE_OPTIONS,
  type Imported,
  type ImportOptions,
  importParquet,
  importStream,
  PROPOSAL_BYTES,
  proposeOptions,
} from './files.ts';
import type { RefusedLine } from './importer.ts';
import { SCHEMAS } from './schemas.ts';
import { IMPORT_SETTINGS } from './settings.ts';
import { chunksOf, withUpload } from './uploads.ts';

type Deps = Core & {
  destination: Destination;
  imports: ConcurrencyLimit;
  importedSamples: ReturnType<Metrics['declare']['counter']>;
};

/** Refused lines that an answer lists. Its count includes further ones. */
const MAX_LISTED = 1000;

const QUERY = {
  device: fields.id.meta({
    description: 'The device of all rows, if the file does not name it: a UUID in lower case, or a name.',
    example: 'old-logger',
  }),
  dry_run: z.enum(['true', 'false'], 'true or false').default('false').meta({
    description: 'With `true` the API stores nothing, and shows the first samples as they would be stored.',
  }),
  replace: z.enum(['true', 'false'], 'true or false').default('false').meta({
    description:
      'With `true` the samples replace what is stored for their times. The token needs the scope `correct`.',
  }),
  skip: digits(0, 999_999_999).default(0).meta({
    description:
      'Rows at the beginning that are stored already. The answer has the number to continue with in `rows`.',
  }),
  ...FILE_OPTIONS,
};

const FORMATS = {
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  'application/vnd.apache.parquet': 'parquet',
} as const;

export const postImport =
  (deps: Deps): RequestHandler =>
  async (req, res) => {
    const { device, dry_run: dryRun, replace, skip, ...file } = readQuery(req, QUERY);
    if (replace === 'true') requireScope(res, 'correct');
    if (device !== undefined) parseDevice(device);
    closeUnread(req, res);
    // This refuses compressed bodies, because the parser of each format reads the raw bytes.
    codingOf(req, res, false);
    const format = formatOf(req);
    const release = deps.imports.acquire();
    const refused: RefusedLine[] = [];
    try {
      await abortOnClose(res, async (signal) => {
        const options: ImportOptions = {
          ...declaredEncoding(req),
          ...file,
          device,
          skip,
          dryRun: dryRun === 'true',
          replacing: replace === 'true' ? toCorrectionRequest(res, 'import') : null,
          signal,
          onRefused(line) {
            if (refused.length < MAX_LISTED) refused.push(line);
          },
          onProgress: () => {},
        };
        const { progress, range, first, mergedLines } = await run(deps, req, format, options);
        if (!options.dryRun) deps.importedSamples.inc({ format }, progress.samples);
        res.json({
          ...progress,
          oldest: range && formatTime(range.oldest),
          newest: range && formatTime(range.newest),
          refused_lines: refused,
          merged_lines: mergedLines,
          first: options.dryRun ? first : [],
        });
      });
    } finally {
      release();
    }
  };

/** @throws `unknown_format` */
function formatOf(req: Request): (typeof FORMATS)[keyof typeof FORMATS] {
  const type = Object.entries(FORMATS).find(([media]) => req.is(media));
  if (type) return type[1];
  throw new MillraceError('unknown_format', `Send one of ${Object.keys(FORMATS).join(', ')}.`);
}

/** The content type may name any charset that the decoder knows. */
function declaredEncoding(req: Request): { encoding?: string } {
  const charset = charsetOf(req.headers['content-type']);
  return charset === undefined ? {} : { encoding: charset };
}

export const postProposal =
  ({ context: { clock } }: Deps): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const body = bodyOf(req, res, PROPOSAL_BYTES);
    res.json(proposeOptions(await body.read(), { format: formatOf(req), now: clock() }));
  };

async function run(
  { destination, context: { config } }: Deps,
  req: Request,
  format: (typeof FORMATS)[keyof typeof FORMATS],
  options: ImportOptions,
): Promise<Imported> {
  if (format !== 'parquet') return importStream(destination, { source: chunksOf(req), format }, options);
  // A Parquet file is first stored as a whole, because its footer is at its end.
  return withUpload(req, { dataDir: config.dataDir, limit: config.of(IMPORT_SETTINGS).maxBytes }, (file) =>
    importParquet(destination, file, options),
  );
}

export const importSamples: Operation = {
  id: 'importSamples',
  tag: 'measurements',
  scope: 'ingest',
  summary: 'Stores a file of old measurements at their original times',
  description: `\`POST /import/proposal\` proposes the parameters that describe a file. CSV and NDJSON have one sample a row (\`ts\`, \`device\`, \`sensor\`, \`value\`, optional \`type\` and \`unit\`), or
a column or member for each sensor. Both may have \`site\`. Parquet files have the same columns. A sensor that is new gets the type and the unit
of its first row, and a device that is new its site.
Hours that are closed go straight into history. The answer comes after the commit. The same file twice changes nothing. A corrected file replaces stored samples only with \`replace=true\`.

A request must arrive within the time limit of a request, and a Parquet file may have \`IMPORT_MAX_BYTES\`. Send a larger file in pieces, each with the lines up to the column names, or use
\`npm run import\`. After a failure send the file again.`,
  query: QUERY,
  body: {
    'text/csv': {
      text: 'The first line names the columns, unless `header_line` names another line.',
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

export const proposeImport: Operation = {
  id: 'proposeImport',
  tag: 'measurements',
  scope: 'ingest',
  summary: 'Proposes how to read a file of measurements',
  description: `Send the beginning of a CSV or NDJSON file, up to ${PROPOSAL_BYTES / 1024} KiB. The answer has the parameters of \`POST /import\` that its
first lines need, and questions about all that these lines do not show, such as the order of day and month in 03/04/2026. Nothing is stored.`,
  body: {
    'text/csv': { text: 'The first lines.', example: 'Zeit;Temp [°C]\n01.11.2026 10:00;21,5\n' },
    'application/x-ndjson': {
      text: 'The first objects.',
      example: '{"zeit":"2026-11-01 10:00:00","temp":21.5}\n',
    },
    'application/vnd.apache.parquet': { text: 'A Parquet file needs no parameters.' },
  },
  answers: { 200: json(SCHEMAS.ImportProposal) },
  problems: ['bad_parameter', 'too_large', 'unknown_format', 'bad_request'],
};

export const routes: Array<Route<Deps>> = [
  { method: 'post', path: '/api/v1/import', operation: importSamples, handler: postImport },
  { method: 'post', path: '/api/v1/import/proposal', operation: proposeImport, handler: postProposal },
];
