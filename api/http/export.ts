import type { Request, Response } from 'express';
import { MillraceError } from '../../common/errors.ts';
import type { Series } from '../../schema/packed/series.ts';
import { HOUR_MS } from '../../schema/rules.ts';
import { COLUMN_FORMATS, type ColumnType, countSamples, labelsOf, readSensors } from '../columns/index.ts';
import type { Samples } from '../columns/rows.ts';
import type { Sensor } from '../history/reading/hours.ts';
import type { Reading } from '../history/reading/index.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Content } from './contract/operation.ts';
import { abortOnClose, type ConcurrencyLimit } from './long-requests.ts';
import { createWrite } from './write.ts';

/** A formatted time ends with these: `00:00.` to `59:59.`, and `000Z` to `999Z`. */
const SECONDS = Array.from(
  { length: 3600 },
  (_, second) => `${pad(Math.floor(second / 60), 2)}:${pad(second % 60, 2)}.`,
);
const MILLISECONDS = Array.from({ length: 1000 }, (_, ms) => `${pad(ms, 3)}Z`);

function pad(number: number, digits: number) {
  return String(number).padStart(digits, '0');
}

/** Like `formatTime`, for whole epoch ms. It joins three cached texts, which is three times as fast for many times in one hour. */
function createTimes(): (ts: number) => string {
  let hour = Number.NaN;
  let beginning = '';
  return (ts) => {
    let rest = ts - hour;
    if (!(rest >= 0 && rest < HOUR_MS)) {
      hour = Math.floor(ts / HOUR_MS) * HOUR_MS;
      rest = ts - hour;
      beginning = new Date(hour).toISOString().slice(0, 14);
    }
    const milliseconds = rest % 1000;
    return beginning + SECONDS[(rest - milliseconds) / 1000] + MILLISECONDS[milliseconds];
  };
}

/** Numbers and times need no quotes, and no spreadsheet reads them as formulas. */
interface Format {
  extension: string;
  head: string;
  line: (time: string, value: number) => string;
}

const FORMATS: Record<'application/x-ndjson' | 'text/csv', Format> = {
  'application/x-ndjson': {
    extension: 'ndjson',
    head: '',
    line: (time, value) => `{"ts":"${time}","value":${value}}\n`,
  },
  'text/csv': { extension: 'csv', head: 'ts,value\n', line: (time, value) => `${time},${value}\n` },
};

export const COLUMN_CONTENT: Content = {
  'application/vnd.apache.parquet': {
    text: 'A Parquet file. Each row group has the exact least and greatest value of each column.',
  },
  'application/vnd.apache.arrow.stream': { text: 'An Arrow IPC stream. The labels are dictionaries.' },
};

export type TextType = keyof typeof FORMATS;

type ExportType = TextType | ColumnType;

const TEXT_TYPES = Object.keys(FORMATS) as TextType[];

const TYPES = [...TEXT_TYPES, ...(Object.keys(COLUMN_FORMATS) as ColumnType[])];

/** By the parameter `format`, which exists because a link cannot send `Accept`. */
export const TYPE_OF = {
  json: null,
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
  parquet: 'application/vnd.apache.parquet',
  arrow: 'application/vnd.apache.arrow.stream',
} as const;

export const hasColumns = (type: ExportType): type is ColumnType => Object.hasOwn(COLUMN_FORMATS, type);

/** `format` replaces `Accept`. Null: a page of JSON. */
export const exportType = (req: Request, format: keyof typeof TYPE_OF | undefined): ExportType | null =>
  format === undefined ? preferred(req, TYPES) : TYPE_OF[format];

/** `format` replaces `Accept`. Null: a page of JSON. */
export const tableType = (req: Request, format: 'json' | 'csv' | 'ndjson' | undefined): TextType | null =>
  format === undefined ? preferred(req, TEXT_TYPES) : TYPE_OF[format];

/**
 * Pages of JSON come first, so that they win a tie. Each type is also offered with its charset, because an `Accept` with a charset matches
 * only such a type.
 */
function preferred<T extends ExportType>(req: Request, types: T[]): T | null {
  const served = ['application/json', ...types].flatMap((type) => [type, `${type}; charset=utf-8`]);
  const wanted = String(req.accepts(served));
  return types.find((type) => wanted.startsWith(type)) ?? null;
}

/** Streams a range of one sensor. @throws `bad_parameter`, `busy`, `unavailable` */
export async function sendExport(
  req: Request,
  res: Response,
  options: {
    reading: Pick<Reading, 'all'>;
    limit: ConcurrencyLimit;
    type: ExportType;
    key: Sensor;
    sensor: { deviceId: string; sensorId: string; row: Parameters<typeof labelsOf>[0] };
    range: { from: number; to: number };
    order: 'asc' | 'desc';
    metrics: Metrics;
  },
) {
  const { reading, type, key, sensor, range, order } = options;
  refusePaging(req, type, hasColumns(type) ? ['order'] : []);
  if (hasColumns(type)) {
    const labels = labelsOf(sensor.row, sensor.deviceId, sensor.sensorId);
    const exported = { key, labels, newest: range.to - 1 };
    const name = fileName(sensor, COLUMN_FORMATS[type].extension);
    return sendColumns(req, res, {
      ...options,
      type,
      name,
      read: (signal) => readSensors(reading, [exported], range, signal),
    });
  }
  const { limit, metrics } = options;
  const format = FORMATS[type];
  const onSamples = (count: number) => metrics.exportedSamples.inc({ format: format.extension }, count);
  await sendFile(req, res, {
    limit,
    type: `${type}; charset=utf-8`,
    name: fileName(sensor, format.extension),
    send: (signal) =>
      sendSamples(res, format, reading.all(key, range, order, signal), {
        ...range,
        order,
        signal,
        onSamples,
      }),
  });
}

/** Streams Parquet or Arrow, oldest samples first. @throws `busy`, `unavailable` */
export async function sendColumns(
  req: Request,
  res: Response,
  {
    limit,
    type,
    name,
    read,
    metrics,
  }: {
    limit: ConcurrencyLimit;
    type: ColumnType;
    name: string;
    read: (signal: AbortSignal) => AsyncIterable<Samples>;
    metrics: Metrics;
  },
) {
  const { name: format, encode } = COLUMN_FORMATS[type];
  const onSamples = (count: number) => metrics.exportedSamples.inc({ format }, count);
  await sendEncoded(req, res, {
    limit,
    type,
    name,
    encode: (signal) => encode(countSamples(read(signal), onSamples)),
  });
}

/** @throws `busy`, and the errors of `encode` */
export async function sendEncoded(
  req: Request,
  res: Response,
  {
    limit,
    type,
    name,
    encode,
  }: {
    limit: ConcurrencyLimit;
    type: ColumnType;
    name: string;
    encode: (signal: AbortSignal) => AsyncIterable<Uint8Array>;
  },
) {
  await sendFile(req, res, {
    limit,
    type,
    name,
    async send(signal) {
      const write = createWrite(res, signal, 'latin1');
      for await (const bytes of encode(signal)) await write(bytes);
      res.end();
    },
  });
}

async function sendFile(
  req: Request,
  res: Response,
  {
    limit,
    type,
    name,
    send,
  }: {
    limit: ConcurrencyLimit;
    type: string;
    name: string;
    send: (signal: AbortSignal) => Promise<void>;
  },
) {
  res.once('close', limit.acquire());
  res.attachment(name).set('Content-Type', type);
  if (req.method === 'HEAD') return void res.end();
  try {
    await abortOnClose(res, send);
  } catch (error) {
    // If nothing was sent, the answer becomes a problem document instead of a file.
    if (!res.headersSent) res.removeHeader('Content-Disposition');
    throw error;
  }
}

/** A file is the whole answer, so it has no pages. `others`: further parameters that `type` does not support. @throws `bad_parameter` */
export function refusePaging(req: Request, type: string, others: string[] = []) {
  const given = ['limit', 'cursor', ...others].filter((parameter) => parameter in req.query);
  if (given.length === 0) return;
  throw new MillraceError('bad_parameter', 'A file is the whole answer. It has no pages.', {
    details: { parameters: given.map((name) => ({ name, reason: `not allowed with ${type}` })) },
  });
}

/** In bytes. Most systems allow file names of 255 bytes: two names and an extension fit. */
const MAX_BYTES = 120;

/** Some file system forbids these characters, or a shell interprets them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are unsafe too
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069/\\:*?"'<>|`$;&]+/g;

/** Names of device and sensor, or their ids if they have no names. */
export function fileName(
  {
    deviceId,
    sensorId,
    row,
  }: { deviceId: string; sensorId: string; row: { deviceName: string | null; name: string | null } },
  extension: string,
): string {
  return `${safeName(row.deviceName ?? deviceId)}_${safeName(row.name ?? sensorId)}.${extension}`;
}

/** Without characters that a file system or a shell treats specially. */
export function safeName(text: string): string {
  const plain = text.replaceAll(UNSAFE, '-').replace(/^[\s.-]+/, '');
  let kept = '';
  for (const character of plain) {
    if (Buffer.byteLength(kept + character) > MAX_BYTES) break;
    kept += character;
  }
  return kept.trim() || '-';
}

/** In characters. Smaller writes would cost more than formatting their content. */
export const CHUNK = 64 * 1024;

/**
 * No faster than the client reads. It sends nothing before the first samples are read. So if the database is unavailable, the answer can
 * still be a problem document. Samples outside [from, to) are left out.
 */
async function sendSamples(
  res: Response,
  { head, line }: Format,
  all: AsyncGenerator<Series, void>,
  {
    from,
    to,
    order,
    signal,
    onSamples,
  }: {
    from: number;
    to: number;
    order: 'asc' | 'desc';
    signal: AbortSignal;
    onSamples: (count: number) => void;
  },
) {
  const timeOf = createTimes();
  const write = createWrite(res, signal, 'latin1');
  const step = order === 'asc' ? 1 : -1;
  let text = head;
  for await (const { times, values } of all) {
    let sent = 0;
    for (
      let index = order === 'asc' ? 0 : times.length - 1;
      index >= 0 && index < times.length;
      index += step
    ) {
      const ts = times[index] as number;
      if (ts < from || ts >= to) continue;
      text += line(timeOf(ts), values[index] as number);
      sent++;
      if (text.length < CHUNK) continue;
      await write(text);
      text = '';
    }
    onSamples(sent);
  }
  res.end(text, 'latin1');
}
