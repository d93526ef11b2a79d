import { MillraceError } from '../../../common/errors.js';
import { whileThere } from '../gone.js';
import { fileName } from './file-name.js';
import { FORMATS } from './formats.js';
import { sendSamples } from './send.js';

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
 * @param {import('express').Request} req
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
 * @param {import('express').Request} req
 * @param {import('express').Response} res
 * @param {object} of
 * @param {Pick<import('../../history/reading/index.js').Reading, 'all'>} of.reading
 * @param {import('../places.js').Places} of.places
 * @param {ExportType} of.type
 * @param {import('../../history/reading/hours.js').Sensor} of.key
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
    await whileThere(res, (signal) =>
      sendSamples(res, format, reading.all(key, range, order, signal), { ...range, order, signal }),
    );
  } catch (error) {
    // What is answered now is a problem, and no file.
    if (!res.headersSent) res.removeHeader('Content-Disposition');
    throw error;
  }
}
