import { MillraceError } from '../../common/errors.js';
import { COLUMN_FORMATS, countSamples, labelsOf, readSensors } from '../export/index.js';
import { abortOnClose } from './long-requests.js';
import { createWrite } from './write.js';

/** @import { Request, Response } from 'express' */
/** @import { Series } from '../../schema/packed/series.js' */
/** @import { ColumnType } from '../export/index.js' */
/** @import { Samples } from '../export/rows.js' */
/** @import { Sensor } from '../history/reading/hours.js' */
/** @import { Reading } from '../history/reading/index.js' */
/** @import { Metrics } from '../observability/metrics.js' */
/** @import { ConcurrencyLimit } from './long-requests.js' */

const HOUR_MS = 3_600_000;

/** The texts that end a formatted time: `00:00.` to `59:59.`, and `000Z` to `999Z`. */
const SECONDS = Array.from(
  { length: 3600 },
  (_, second) => `${pad(Math.floor(second / 60), 2)}:${pad(second % 60, 2)}.`,
);
const MILLISECONDS = Array.from({ length: 1000 }, (_, ms) => `${pad(ms, 3)}Z`);

/** @param {number} number @param {number} digits */
function pad(number, digits) {
  return String(number).padStart(digits, '0');
}

/**
 * Returns a function that formats times as `formatTime` does. It joins three cached texts. For many times in one hour,
 * formatting is three times as fast with the cache.
 *
 * @returns {(ts: number) => string} `ts` in whole epoch ms
 */
function createTimes() {
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

/**
 * A text format of samples. Numbers and times need no quotes, and no spreadsheet reads them as formulas.
 *
 * @typedef {object} Format
 * @property {string} extension extension of the file name
 * @property {string} head text before the first line
 * @property {(time: string, value: number) => string} line formats a sample
 */

/** Text formats by media type. @type {Record<'application/x-ndjson' | 'text/csv', Format>} */
const FORMATS = {
  'application/x-ndjson': {
    extension: 'ndjson',
    head: '',
    line: (time, value) => `{"ts":"${time}","value":${value}}\n`,
  },
  'text/csv': { extension: 'csv', head: 'ts,value\n', line: (time, value) => `${time},${value}\n` },
};

/** @typedef {keyof typeof FORMATS} TextType of a table */

/** @typedef {TextType | ColumnType} ExportType of samples */

const TEXT_TYPES = /** @type {TextType[]} */ (Object.keys(FORMATS));

const TYPES = [...TEXT_TYPES, .../** @type {ColumnType[]} */ (Object.keys(COLUMN_FORMATS))];

/** Media types by the value of the parameter `format`, which exists because a link cannot send `Accept`. */
export const TYPE_OF = /** @type {const} */ ({
  json: null,
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
  parquet: 'application/vnd.apache.parquet',
  arrow: 'application/vnd.apache.arrow.stream',
});

/** @param {ExportType} type @returns {type is ColumnType} */
export const hasColumns = (type) => Object.hasOwn(COLUMN_FORMATS, type);

/**
 * @param {Request} req
 * @param {keyof typeof TYPE_OF | undefined} format replaces `Accept`
 * @returns {ExportType | null} the file type that the client prefers; null: a page of JSON
 */
export const exportType = (req, format) => (format === undefined ? preferred(req, TYPES) : TYPE_OF[format]);

/**
 * @param {Request} req
 * @param {'json' | 'csv' | 'ndjson' | undefined} format replaces `Accept`
 * @returns {TextType | null} the type of table that the client prefers; null: a page of JSON
 */
export const tableType = (req, format) =>
  format === undefined ? preferred(req, TEXT_TYPES) : TYPE_OF[format];

/**
 * Returns the type that the client prefers. Pages of JSON come first, so that they win a tie. Each type is also offered with its
 * charset, because an `Accept` with a charset matches only such a type.
 *
 * @template {ExportType} T
 * @param {Request} req
 * @param {T[]} types
 * @returns {T | null}
 */
function preferred(req, types) {
  const served = ['application/json', ...types].flatMap((type) => [type, `${type}; charset=utf-8`]);
  const wanted = String(req.accepts(served));
  return types.find((type) => wanted.startsWith(type)) ?? null;
}

/**
 * Streams the samples of a sensor in a range as a file.
 *
 * @param {Request} req
 * @param {Response} res
 * @param {object} options
 * @param {Pick<Reading, 'all'>} options.reading
 * @param {ConcurrencyLimit} options.limit
 * @param {ExportType} options.type
 * @param {Sensor} options.key
 * @param {{ deviceId: string, sensorId: string, row: Parameters<typeof labelsOf>[0] }} options.sensor
 * @param {{ from: number, to: number }} options.range
 * @param {'asc' | 'desc'} options.order
 * @param {Metrics} options.metrics
 * @throws {MillraceError} `bad_parameter`, `busy`, `unavailable`
 */
export async function sendExport(req, res, options) {
  const { reading, type, key, sensor, range, order } = options;
  refusePaging(req, type, hasColumns(type) ? ['order'] : []);
  if (hasColumns(type)) {
    const labels = labelsOf(sensor.row, sensor.deviceId, sensor.sensorId);
    const exported = { key, labels, site: null, newest: range.to - 1 };
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
  const onSamples = (/** @type {number} */ count) =>
    metrics.exportedSamples.inc({ format: format.extension }, count);
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

/**
 * Streams samples of any number of sensors as a file of columns (Parquet or Arrow), oldest first.
 *
 * @param {Request} req
 * @param {Response} res
 * @param {object} options
 * @param {ConcurrencyLimit} options.limit
 * @param {ColumnType} options.type
 * @param {string} options.name name of the file
 * @param {(signal: AbortSignal) => AsyncIterable<Samples>} options.read
 * @param {Metrics} options.metrics
 * @throws {MillraceError} `busy`, `unavailable`
 */
export async function sendColumns(req, res, { limit, type, name, read, metrics }) {
  const { name: format, encode } = COLUMN_FORMATS[type];
  const onSamples = (/** @type {number} */ count) => metrics.exportedSamples.inc({ format }, count);
  await sendEncoded(req, res, {
    limit,
    type,
    name,
    encode: (signal) => encode(countSamples(read(signal), onSamples)),
  });
}

/**
 * Streams a file of columns while it is encoded.
 *
 * @param {Request} req
 * @param {Response} res
 * @param {object} options
 * @param {ConcurrencyLimit} options.limit
 * @param {ColumnType} options.type
 * @param {string} options.name name of the file
 * @param {(signal: AbortSignal) => AsyncIterable<Uint8Array>} options.encode
 * @throws {MillraceError} `busy`, and the errors of `encode`
 */
export async function sendEncoded(req, res, { limit, type, name, encode }) {
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

/**
 * Sends a file while it is made, and stops when the client disconnects.
 *
 * @param {Request} req
 * @param {Response} res
 * @param {object} options
 * @param {ConcurrencyLimit} options.limit
 * @param {string} options.type
 * @param {string} options.name
 * @param {(signal: AbortSignal) => Promise<void>} options.send
 */
async function sendFile(req, res, { limit, type, name, send }) {
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

/**
 * Refuses the parameters of pages, because a file is the whole answer.
 *
 * @param {Request} req
 * @param {string} type media type of the file
 * @param {string[]} [others] further parameters that this type does not support
 * @throws {MillraceError} `bad_parameter`
 */
export function refusePaging(req, type, others = []) {
  const given = ['limit', 'cursor', ...others].filter((parameter) => parameter in req.query);
  if (given.length === 0) return;
  throw new MillraceError('bad_parameter', 'A file is the whole answer. It has no pages.', {
    details: { parameters: given.map((name) => ({ name, reason: `not allowed with ${type}` })) },
  });
}

/** Limit in bytes of a device or sensor name in a file name. Most systems allow 255 bytes: two such names and an extension fit. */
const MAX_BYTES = 120;

/** Characters that some file system forbids, or that a shell interprets. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are unsafe too
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069/\\:*?"'<>|`$;&]+/g;

/**
 * Returns the file name of an export: the names of device and sensor, or their ids if they have no names.
 *
 * @param {{ deviceId: string, sensorId: string, row: { deviceName: string | null, name: string | null } }} sensor
 * @param {string} extension
 * @returns {string}
 */
export function fileName({ deviceId, sensorId, row }, extension) {
  return `${safeName(row.deviceName ?? deviceId)}_${safeName(row.name ?? sensorId)}.${extension}`;
}

/** @param {string} text @returns {string} the text without characters that a file system or a shell treats specially */
export function safeName(text) {
  const plain = text.replaceAll(UNSAFE, '-').replace(/^[\s.-]+/, '');
  let kept = '';
  for (const character of plain) {
    if (Buffer.byteLength(kept + character) > MAX_BYTES) break;
    kept += character;
  }
  return kept.trim() || '-';
}

/** Number of characters of one write. Smaller writes would cost more than formatting their content. */
export const CHUNK = 64 * 1024;

/**
 * Writes samples, no faster than the client reads them. It sends nothing before the first samples are read. So if the database
 * is unavailable, the answer can still be a problem document.
 *
 * @param {Response} res response with its headers set, but not sent
 * @param {Format} format
 * @param {AsyncGenerator<Series, void>} all series, each sorted by time
 * @param {{ from: number, to: number, order: 'asc' | 'desc', signal: AbortSignal, onSamples: (count: number) => void }} options
 *   samples outside [from, to) are left out; `signal` aborts when the client disconnects
 */
async function sendSamples(res, { head, line }, all, { from, to, order, signal, onSamples }) {
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
      const ts = /** @type {number} */ (times[index]);
      if (ts < from || ts >= to) continue;
      text += line(timeOf(ts), /** @type {number} */ (values[index]));
      sent++;
      if (text.length < CHUNK) continue;
      await write(text);
      text = '';
    }
    onSamples(sent);
  }
  res.end(text, 'latin1');
}
