import type { Writable } from 'node:stream';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';
import compression from 'compression';
import type { Request, RequestHandler, Response } from 'express';

/** In bytes. A smaller answer fits in one packet anyway. */
const THRESHOLD = 1024;

/** Fast levels of gzip (1 to 9) and brotli (0 to 11), because an export is compressed while it is read. */
const GZIP_LEVEL = 4;
const BROTLI_QUALITY = 4;

const TYPES = /^application\/(?:(?:[\w.-]+\+)?json|x-ndjson)\b|^text\/csv\b/i;

/**
 * Answers under `session` contain a secret next to texts that the client chose, so their compressed length would reveal the secret
 * (BREACH). Other answers with a secret set `Cache-Control: no-transform`. `stream` compresses its events itself, by `compressEvents`.
 */
const EXCLUDED = /^\/api\/v1\/(?:session|stream)(?:\/|$)/i;

/** With brotli or gzip, as `Accept-Encoding` allows. `types`: content types that are compressed. */
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
 * For an endless answer: each event is sent at once. The headers must not be sent yet. Returns the answer itself if the client accepts
 * neither brotli nor gzip.
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

/** Otherwise a client of an export would wait for a full block of the compression. */
export const flushCompressed = (res: Response & { flush?: () => void }) => res.flush?.();
