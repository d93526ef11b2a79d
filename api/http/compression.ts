import type { Writable } from 'node:stream';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';
import compression from 'compression';
import type { Request, RequestHandler, Response } from 'express';

/** Size in bytes below which an answer is not compressed, because it fits in one packet anyway. */
const THRESHOLD = 1024;

/** Compression levels of gzip (1 to 9) and brotli (0 to 11). They are fast levels, because an export is compressed while it is read. */
const GZIP_LEVEL = 4;
const BROTLI_QUALITY = 4;

const TYPES = /^application\/(?:(?:[\w.-]+\+)?json|x-ndjson)\b|^text\/csv\b/i;

/**
 * Routes that are not compressed here. Answers under `credentials` and `session` contain a secret next to texts that the client
 * chose, so their compressed length would reveal the secret (BREACH). `stream` compresses its events itself, by
 * `compressEvents`.
 */
const EXCLUDED = /^\/api\/v1\/(?:credentials|session|stream)(?:\/|$)/i;

/**
 * Returns middleware that compresses answers with brotli or gzip, as `Accept-Encoding` allows.
 * @param types content types that are compressed; default: JSON, CSV and NDJSON
 */
export function compressAnswers(types: RegExp = TYPES): RequestHandler {
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

/** Brotli with a window of 256 KiB costs 120 KB for each stream client. gzip costs 270 KB, twice the CPU time, and 9 % more bytes. */
const EVENTS_BROTLI = { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 18 };

/**
 * Compresses an endless answer with brotli or gzip, as `Accept-Encoding` allows. The compression sends each event at once. The
 * headers must not be sent yet.
 * @returns stream for the events: a compressor, or the answer itself if the client accepts neither compression
 */
export function compressEvents(req: Request, res: Response): Writable {
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
 * Sends the bytes that the compression of an answer still buffers. Otherwise a client of an export would wait for a full block.
 * @param res response, compressed or not
 */
export const flushCompressed = (res: Response & { flush?: () => void }) => res.flush?.();
