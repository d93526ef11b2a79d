import { constants, createBrotliCompress, createGzip } from 'node:zlib';
import compression from 'compression';

/** @import { Request, RequestHandler, Response } from 'express' */
/** @import { Writable } from 'node:stream' */

/** Size in bytes below which an answer is not compressed, because it fits in one packet anyway. */
const THRESHOLD = 1024;

/**
 * Fast levels, since an export is compressed while it is read. gzip has the levels 1 to 9, brotli 0 to 11.
 */
const GZIP_LEVEL = 4;
const BROTLI_QUALITY = 4;

const TYPES = /^application\/(?:(?:[\w.-]+\+)?json|x-ndjson)\b|^text\/csv\b/i;

/**
 * Routes that are not compressed here. The answers of the first two have a secret next to texts that the client chose: their length
 * would reveal the secret (BREACH). The stream compresses its events itself, by `compressEvents`.
 */
const EXCLUDED = /^\/api\/v1\/(?:credentials|session|stream)(?:\/|$)/i;

/**
 * Compresses answers with brotli or gzip, as `Accept-Encoding` allows.
 *
 * @param {RegExp} [types] content types that are compressed, default JSON, CSV and NDJSON
 * @returns {RequestHandler}
 */
export function compressAnswers(types = TYPES) {
  const compress = compression({
    threshold: THRESHOLD,
    level: GZIP_LEVEL,
    brotli: { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } },
    filter: (_req, res) => types.test(String(res.getHeader('Content-Type') ?? '')),
  });
  return (req, res, next) => {
    if (EXCLUDED.test(`${req.baseUrl}${req.path}`)) next();
    else compress(req, res, next);
  };
}

/** A reader of the stream costs 120 KB with this window of 256 KiB. gzip costs 270 KB, twice the CPU time, and 9 % more bytes. */
const EVENTS_BROTLI = { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 18 };

/**
 * Compresses an endless answer with brotli or gzip, as `Accept-Encoding` allows. Each event leaves at once. The headers must not be
 * sent yet.
 *
 * @param {Request} req
 * @param {Response} res
 * @returns {Writable} where the events are written: the answer itself, if the client accepts neither
 */
export function compressEvents(req, res) {
  res.vary('Accept-Encoding');
  const accepted = req.acceptsEncodings();
  const encoding = ['br', 'gzip'].find((name) => accepted.includes(name));
  if (encoding === undefined || req.method === 'HEAD') return res;
  res.set('Content-Encoding', encoding);
  const encoder =
    encoding === 'br'
      ? createBrotliCompress({ flush: constants.BROTLI_OPERATION_FLUSH, params: EVENTS_BROTLI })
      : createGzip({ flush: constants.Z_SYNC_FLUSH, level: constants.Z_BEST_SPEED });
  encoder.on('error', () => res.destroy());
  encoder.pipe(res);
  res.once('close', () => encoder.destroy());
  return encoder;
}

/**
 * Sends the bytes that the compression of an answer still buffers. Otherwise a client of an export would wait
 * for a full block.
 *
 * @param {Response & { flush?: () => void }} res compressed or not
 */
export const flushCompressed = (res) => res.flush?.();
