import { once } from 'node:events';
import { MillraceError } from '../../common/errors.js';
import { abortOnClose } from './long-requests.js';

/** @import { Request, Response } from 'express' */
/** @import { Series } from '../../schema/packed/series.js' */
/** @import { Sensor } from '../history/reading/hours.js' */
/** @import { Reading } from '../history/reading/index.js' */
/** @import { ConcurrencyLimit } from './long-requests.js' */

const HOUR_MS = 3_600_000;

/** The ends of a time: `00:00.` to `59:59.`, and `000Z` to `999Z`. */
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
 * Formats times as `formatTime` does, from three cached texts. For many times of one hour that is three times as fast.
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
 * @property {string} extension of a file's name
 * @property {string} head
 * @property {(time: string, value: number) => string} line
 */

/** By media type. @type {Record<'application/x-ndjson' | 'text/csv', Format>} */
const FORMATS = {
  'application/x-ndjson': {
    extension: 'ndjson',
    head: '',
    line: (time, value) => `{"ts":"${time}","value":${value}}\n`,
  },
  'text/csv': { extension: 'csv', head: 'ts,value\n', line: (time, value) => `${time},${value}\n` },
};

/** @typedef {keyof typeof FORMATS} ExportType */

const TYPES = /** @type {ExportType[]} */ (Object.keys(FORMATS));

/** The media types served here, pages first. Each is also listed with its charset, because an `Accept` with a charset matches only that. */
const SERVED = ['application/json', ...TYPES].flatMap((type) => [type, `${type}; charset=utf-8`]);

/** The media type by the parameter `format`. A link cannot send `Accept`. */
export const TYPE_OF = /** @type {const} */ ({
  json: null,
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
});

/**
 * @param {Request} req
 * @param {keyof typeof TYPE_OF | undefined} format replaces `Accept`
 * @returns {ExportType | null} the export that the client prefers; null: a page
 */
export function exportType(req, format) {
  if (format !== undefined) return TYPE_OF[format];
  const wanted = String(req.accepts(SERVED));
  return TYPES.find((type) => wanted.startsWith(type)) ?? null;
}

/**
 * Streams the whole range.
 *
 * @param {Request} req
 * @param {Response} res
 * @param {object} options
 * @param {Pick<Reading, 'all'>} options.reading
 * @param {ConcurrencyLimit} options.limit
 * @param {ExportType} options.type
 * @param {Sensor} options.key
 * @param {Parameters<typeof fileName>[0]} options.sensor
 * @param {{ from: number, to: number }} options.range
 * @param {'asc' | 'desc'} options.order
 * @throws {MillraceError} `bad_parameter`, `busy`, `unavailable`
 */
export async function sendExport(req, res, { reading, limit, type, key, sensor, range, order }) {
  const paged = ['limit', 'cursor'].filter((parameter) => parameter in req.query);
  if (paged.length > 0) {
    throw new MillraceError('bad_parameter', 'An export is the whole range. It has no pages.', {
      details: {
        parameters: paged.map((parameter) => ({ name: parameter, reason: `not allowed with ${type}` })),
      },
    });
  }
  res.once('close', limit.acquire());
  const format = FORMATS[type];
  res.attachment(fileName(sensor, format.extension)).set('Content-Type', `${type}; charset=utf-8`);
  if (req.method === 'HEAD') return void res.end();
  try {
    await abortOnClose(res, (signal) =>
      sendSamples(res, format, reading.all(key, range, order, signal), { ...range, order, signal }),
    );
  } catch (error) {
    // The answer is a problem now, not a file.
    if (!res.headersSent) res.removeHeader('Content-Disposition');
    throw error;
  }
}

/** Most systems allow 255 bytes in a file name. Two parts of this length and an extension have fewer. */
const MAX_BYTES = 120;

/** Characters that some file system forbids, or that a shell interprets. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are unsafe too
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069/\\:*?"'<>|`$;&]+/g;

/**
 * The file name of an export: the names of device and sensor, or their ids without a name.
 *
 * @param {{ deviceId: string, sensorId: string, row: { deviceName: string | null, name: string | null } }} sensor
 * @param {string} extension
 * @returns {string}
 */
export function fileName({ deviceId, sensorId, row }, extension) {
  return `${safe(row.deviceName ?? deviceId)}_${safe(row.name ?? sensorId)}.${extension}`;
}

/** @param {string} text @returns {string} */
function safe(text) {
  const plain = text.replaceAll(UNSAFE, '-').replace(/^[\s.-]+/, '');
  let kept = '';
  for (const character of plain) {
    if (Buffer.byteLength(kept + character) > MAX_BYTES) break;
    kept += character;
  }
  return kept.trim() || '-';
}

/** Characters of one write. Small writes would cost more than formatting their content. */
const CHUNK = 64 * 1024;

/**
 * Writes samples, no faster than the client reads them. Sends nothing before the first samples are read, so that a problem
 * can be the answer if the database is unavailable.
 *
 * @param {Response} res with its headers set, but not sent
 * @param {Format} format
 * @param {AsyncGenerator<Series, void>} all each sorted
 * @param {{ from: number, to: number, order: 'asc' | 'desc', signal: AbortSignal }} options samples outside [from, to) are left
 *   out; `signal` aborts when the client disconnects
 */
async function sendSamples(res, { head, line }, all, { from, to, order, signal }) {
  const timeOf = createTimes();
  const step = order === 'asc' ? 1 : -1;
  let text = head;
  for await (const { times, values } of all) {
    for (
      let index = order === 'asc' ? 0 : times.length - 1;
      index >= 0 && index < times.length;
      index += step
    ) {
      const ts = /** @type {number} */ (times[index]);
      if (ts < from || ts >= to) continue;
      text += line(timeOf(ts), /** @type {number} */ (values[index]));
      if (text.length < CHUNK) continue;
      await write(res, text, signal);
      text = '';
    }
  }
  res.end(text, 'latin1');
}

/** @param {Response} res @param {string} text ASCII @param {AbortSignal} signal */
async function write(res, text, signal) {
  signal.throwIfAborted();
  if (!res.write(text, 'latin1')) await once(res, 'drain', { signal });
}
