import { once } from 'node:events';
import { MillraceError } from '../../common/errors.js';
import { abortOnClose } from './long-requests.js';

/** @import { Request, Response } from 'express' */
/** @import { Series } from '../../schema/packed/series.js' */
/** @import { Sensor } from '../history/reading/hours.js' */
/** @import { Reading } from '../history/reading/index.js' */
/** @import { Places } from './long-requests.js' */

const HOUR_MS = 3_600_000;

/** Minutes and seconds, and milliseconds, as they end a time: `00:00.` to `59:59.`, `000Z` to `999Z`. */
const SECONDS = Array.from({ length: 3600 }, (_, at) => `${pad(Math.floor(at / 60), 2)}:${pad(at % 60, 2)}.`);
const MILLISECONDS = Array.from({ length: 1000 }, (_, at) => `${pad(at, 3)}Z`);

/** @param {number} number @param {number} digits */
function pad(number, digits) {
  return String(number).padStart(digits, '0');
}

/**
 * Times as `formatTime` writes them, put together from three texts: for many of one hour that is three times as fast.
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
 * How samples are written one after the other. Numbers and times need no quotes, and no spreadsheet takes them for formulas.
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

/** What is served, pages first; with their charset too, since who asks for that takes nothing else. */
const SERVED = ['application/json', ...TYPES].flatMap((type) => [type, `${type}; charset=utf-8`]);

/** By the name that a link gives, which cannot send an Accept. */
export const TYPE_OF = /** @type {const} */ ({
  json: null,
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
});

/**
 * @param {Request} req
 * @param {keyof typeof TYPE_OF | undefined} format goes before Accept
 * @returns {ExportType | null} what whoever asks would rather have than a page; null: a page
 */
export function exportType(req, format) {
  if (format !== undefined) return TYPE_OF[format];
  const wanted = String(req.accepts(SERVED));
  return TYPES.find((type) => wanted.startsWith(type)) ?? null;
}

/**
 * The whole range, streamed.
 *
 * @param {Request} req
 * @param {Response} res
 * @param {object} of
 * @param {Pick<Reading, 'all'>} of.reading
 * @param {Places} of.places
 * @param {ExportType} of.type
 * @param {Sensor} of.key
 * @param {Parameters<typeof fileName>[0]} of.sensor
 * @param {{ from: number, to: number }} of.range
 * @param {'asc' | 'desc'} of.order
 * @throws {MillraceError} `bad_parameter`, `busy`, `unavailable`
 */
export async function sendExport(req, res, { reading, places, type, key, sensor, range, order }) {
  const paged = ['limit', 'cursor'].filter((parameter) => parameter in req.query);
  if (paged.length > 0) {
    throw new MillraceError('bad_parameter', 'An export is the whole range: it has no pages.', {
      details: {
        parameters: paged.map((parameter) => ({ name: parameter, reason: `not known to ${type}` })),
      },
    });
  }
  const leave = places.take();
  // Its end, or that of the connection, whichever comes.
  res.once('close', leave);
  const format = FORMATS[type];
  res.attachment(fileName(sensor, format.extension)).set('Content-Type', `${type}; charset=utf-8`);
  if (req.method === 'HEAD') return void res.end();
  try {
    await abortOnClose(res, (signal) =>
      sendSamples(res, format, reading.all(key, range, order, signal), { ...range, order, signal }),
    );
  } catch (error) {
    // What is answered now is a problem, and no file.
    if (!res.headersSent) res.removeHeader('Content-Disposition');
    throw error;
  }
}

/** A file's name may have 255 bytes on most systems; two of these and an extension have fewer. */
const MOST_BYTES = 120;

/** What some system does not take in a file's name, or a shell would take for something else. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are among them
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069/\\:*?"'<>|`$;&]+/g;

/**
 * What the file of a sensor's samples is called: after its device and itself, by their names where they have some.
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
    if (Buffer.byteLength(kept + character) > MOST_BYTES) break;
    kept += character;
  }
  return kept.trim() || '-';
}

/** What is written at once, in characters: small writes would cost more than all that is in them. */
const CHUNK = 64 * 1024;

/**
 * Writes samples to a client, no faster than he takes them. Nothing is sent before the first of them are read, so that a
 * database that is away can still be told as a problem.
 *
 * @param {Response} res with its headers set, but not sent
 * @param {Format} format
 * @param {AsyncGenerator<Series, void>} all each sorted
 * @param {{ from: number, to: number, order: 'asc' | 'desc', signal: AbortSignal }} options what is outside [from, to) is left
 *   out; `signal`: the client has gone
 */
async function sendSamples(res, { head, line }, all, { from, to, order, signal }) {
  const timeOf = createTimes();
  const step = order === 'asc' ? 1 : -1;
  let text = head;
  for await (const { times, values } of all) {
    for (let at = order === 'asc' ? 0 : times.length - 1; at >= 0 && at < times.length; at += step) {
      const ts = /** @type {number} */ (times[at]);
      if (ts < from || ts >= to) continue;
      text += line(timeOf(ts), /** @type {number} */ (values[at]));
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
