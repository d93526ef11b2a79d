import type { Request, RequestHandler, Response } from 'express';
import { type ZodObject, type ZodRawShape, z } from 'zod';
import { formatTime } from '../../../common/times.ts';
import type { Core, Formats } from '../../feature.ts';
import { storedRange } from '../../history/reading/index.ts';
import type { Content, Operation } from '../../http/contract/operation.ts';
import {
  cutRange,
  DEVICES_QUERY,
  devicePages,
  findMeasured,
  LATEST_QUERY,
  latestPages,
  MEASUREMENTS_QUERY,
  parseDevice,
  readQuery,
  SERIES_QUERY,
  seriesReader,
} from '../../http/index.ts';
import type { LatestRow } from '../../store/devices/latest-rows.ts';
import type { FileType } from '../shared/files/answers.ts';
import { COLUMN_CONTENT, fileType, sendTable, tableType } from '../shared/files/index.ts';
import { type ExportCounter, sendSensor } from './samples.ts';

export type ExportDeps = Core & ExportCounter;

const tableFormat = z.enum(['json', 'csv', 'ndjson'], 'json, csv or ndjson').optional().meta({
  description:
    'The format of the answer. CSV and NDJSON are files of all pages, without `limit` and `cursor`. It replaces `Accept`, which a link cannot send.',
});

/** Rows of a page that is read for a file. */
const FILE_PAGE = 1000;

const textContent = (texts: Record<'csv' | 'ndjson', { text: string; example: string }>): Content => ({
  'text/csv': texts.csv,
  'application/x-ndjson': texts.ndjson,
});

/** `json`: answers a request that does not ask for a file. `send`: answers another one, with its query. */
function answerWith<S extends ZodRawShape, T extends FileType>(
  json: RequestHandler,
  {
    query,
    typeOf,
    send,
  }: {
    query: S;
    typeOf: (req: Request, format?: never) => T | null;
    send: (req: Request, res: Response, type: T, given: z.infer<ZodObject<S>>) => Promise<void>;
  },
): RequestHandler {
  return (req, res, next) => {
    res.vary('Accept');
    if (!('format' in req.query) && typeOf(req) === null) return json(req, res, next);
    const given = readQuery(req, query);
    const { format, ...rest } = req.query;
    const type = typeOf(req, format as never);
    if (type !== null) return send(req, res, type, given);
    // The handler of the core does not know `format`.
    Object.defineProperty(req, 'query', { value: rest });
    return json(req, res, next);
  };
}

const MEASUREMENTS_FILE_QUERY = {
  ...MEASUREMENTS_QUERY,
  order: z.enum(['asc', 'desc'], 'asc or desc').optional().meta({
    description:
      'Order by time: `asc` is oldest first, `desc` is newest first. Default: `asc` for files, `desc` for pages.',
  }),
  format: z
    .enum(['json', 'csv', 'ndjson', 'parquet', 'arrow'], 'json, csv, ndjson, parquet or arrow')
    .optional()
    .meta({ description: 'The format of the answer. It replaces `Accept`, which a link cannot send.' }),
};

const measurements: Formats<ExportDeps> = {
  describe: (operation) => ({
    ...operation,
    summary: 'The samples of a sensor, page by page or as a file',
    description: `\`Accept\` or \`format\` selects an export as CSV, NDJSON, Parquet or Arrow. An export streams the whole range as a
file with the names of device and sensor. It takes neither \`limit\` nor \`cursor\`. Parquet and Arrow have the columns of
\`GET /export\`, oldest first, and do not take \`order\`. If an export fails, the connection breaks. So an answer
that ends normally is complete.`,
    query: MEASUREMENTS_FILE_QUERY,
    answers: {
      200: {
        // The text types must come first. openapi-python-client reads every answer as the first type, and JSON can be read as a text.
        ...textContent({
          csv: {
            text: 'A line `ts,value`, then a line for each sample. Each line ends with a line feed.',
            example: 'ts,value\n2026-11-21T00:00:00.000Z,21.5\n',
          },
          ndjson: {
            text: 'A line of JSON for each sample.',
            example: '{"ts":"2026-11-21T00:00:00.000Z","value":21.5}\n',
          },
        }),
        ...COLUMN_CONTENT,
        ...operation.answers[200],
      },
    },
    problems: [...operation.problems, 'busy'],
  }),
  handler: (deps, json) =>
    answerWith(json, {
      query: MEASUREMENTS_FILE_QUERY,
      typeOf: fileType,
      async send(req, res, type, { from, to, order = 'asc' }) {
        const retained = cutRange({ from, to }, deps.context);
        const sensor = await findMeasured(deps, req.params);
        await sendSensor(deps, req, res, {
          type,
          sensor,
          range: storedRange(retained, sensor.newest),
          order,
        });
      },
    }),
};

/** Adds the texts to the answers of an operation, behind JSON. */
const withTable = (
  operation: Operation,
  query: ZodRawShape,
  texts: Parameters<typeof textContent>[0],
): Operation => ({
  ...operation,
  query,
  answers: { 200: { ...operation.answers[200], ...textContent(texts) } },
  problems: [...operation.problems, 'busy'],
});

const SELECTS = '`Accept` or `format` selects a file of all pages.';

const DEVICES_FILE_QUERY = { ...DEVICES_QUERY, format: tableFormat };
const DEVICE_COLUMNS = ['device_id', 'name', 'site', 'state', 'online', 'last_seen'];

const devices: Formats<ExportDeps> = {
  describe: (operation) => ({
    ...withTable(operation, DEVICES_FILE_QUERY, {
      csv: {
        text: 'A line of names, then a line for each device.',
        example: `${DEVICE_COLUMNS.join(',')}\nf75861a6-5f9c-5c0f-8a0e-6b5c8d0f6c11,my-desk,Office,true,2026-11-21T00:00:00.000Z\n`,
      },
      ndjson: {
        text: 'A line of JSON for each device.',
        example:
          '{"device_id":"f75861a6-5f9c-5c0f-8a0e-6b5c8d0f6c11","name":"my-desk","site":"Office","online":true,"last_seen":null}\n',
      },
    }),
    description: `${operation.description}\n${SELECTS}`,
  }),
  handler: (deps, json) =>
    answerWith(json, {
      query: DEVICES_FILE_QUERY,
      typeOf: tableType,
      send: (req, res, type, filter) =>
        sendTable(req, res, {
          limit: deps.http.limits.exports,
          type,
          name: 'devices',
          columns: DEVICE_COLUMNS,
          read: (signal) => allPages(signal, devicePages(deps, filter)),
        }),
    }),
};

const LATEST_FILE_QUERY = { ...LATEST_QUERY, format: tableFormat };
const LATEST_COLUMNS = ['ts', 'device', 'sensor', 'unit', 'value', 'type', 'site', 'device_id', 'sensor_id'];

const latestRow = (row: LatestRow) => ({
  ts: row.ts === null ? null : formatTime(row.ts),
  device: row.deviceName ?? row.deviceId,
  sensor: row.name ?? row.id,
  unit: row.unit,
  value: row.value,
  type: row.type,
  site: row.site,
  device_id: row.deviceId,
  sensor_id: row.id,
});

const latest: Formats<ExportDeps> = {
  describe: (operation) => ({
    ...withTable(operation, LATEST_FILE_QUERY, {
      csv: {
        text: 'A line of names, then a line for each sensor.',
        example: `${LATEST_COLUMNS.join(',')}\n2026-11-21T00:00:00.000Z,my-desk,temperature,Cel,21.5,temperature,,f75861a6-5f9c-5c0f-8a0e-6b5c8d0f6c11,0b61a3c4-8a0e-5a43-9d57-7b2c8f0f6c11\n`,
      },
      ndjson: {
        text: 'A line of JSON for each sensor, with the members of the columns of CSV.',
        example: '{"ts":"2026-11-21T00:00:00.000Z","device":"my-desk","sensor":"temperature","value":21.5}\n',
      },
    }),
    description: `${operation.description} ${SELECTS}`,
  }),
  handler: (deps, json) =>
    answerWith(json, {
      query: LATEST_FILE_QUERY,
      typeOf: tableType,
      send(req, res, type, { device: ref, asof, type: sensorType, site, name }) {
        const device = ref === undefined ? null : parseDevice(ref);
        const read = latestPages(deps, { device, asof, type: sensorType, site, name });
        return sendTable(req, res, {
          limit: deps.http.limits.exports,
          type,
          name: 'latest',
          columns: LATEST_COLUMNS,
          async *read(signal) {
            for await (const rows of allPages(signal, read)) yield rows.map(latestRow);
          },
        });
      },
    }),
};

const SERIES_FILE_QUERY = { ...SERIES_QUERY, format: tableFormat };
const POINT = ['ts', 'min', 'max', 'avg', 'count'];

const series: Formats<ExportDeps> = {
  describe: (operation) =>
    withTable(operation, SERIES_FILE_QUERY, {
      csv: {
        text: 'A line `ts,min,max,avg,count`, then a line for each point.',
        example: `${POINT.join(',')}\n2026-11-21T00:00:00.000Z,21.25,21.75,21.5,60\n`,
      },
      ndjson: {
        text: 'A line of JSON for each point.',
        example: '{"ts":"2026-11-21T00:00:00.000Z","min":21.25,"max":21.75,"avg":21.5,"count":60}\n',
      },
    }),
  handler: (deps, json) =>
    answerWith(json, {
      query: SERIES_FILE_QUERY,
      typeOf: tableType,
      async send(req, res, type, given) {
        const read = await seriesReader(deps, req.params, given);
        await sendTable(req, res, {
          limit: deps.http.limits.series,
          type,
          name: 'series',
          columns: POINT,
          async *read(signal) {
            yield (await read(signal)).points;
          },
        });
      },
    }),
};

/** By the ids of operations of the core. */
export const FORMATS: Record<string, Formats<ExportDeps>> = {
  listMeasurements: measurements,
  listDevices: devices,
  listLatest: latest,
  readSeries: series,
};

/** The rows of one page after the other. @throws the reason with which `signal` was aborted */
async function* allPages<T, P>(
  signal: AbortSignal,
  read: (after: P | null, limit: number, signal: AbortSignal) => Promise<{ rows: T[]; next: P | null }>,
): AsyncGenerator<T[], void> {
  let after: P | null = null;
  do {
    signal.throwIfAborted();
    const { rows, next } = await read(after, FILE_PAGE, signal);
    yield rows;
    after = next;
  } while (after !== null);
}
