import { constants } from 'node:zlib';
import compression from 'compression';

/** @import { Request, RequestHandler, Response } from 'express' */

/** A smaller answer fits in one packet anyway, in bytes. */
const THRESHOLD = 1024;

/**
 * Fast levels, since an export is compressed while it is read. gzip has the levels 1 to 9, brotli 0 to 11.
 */
const GZIP_LEVEL = 4;
const BROTLI_QUALITY = 4;

const TYPES = /^application\/(?:(?:[\w.-]+\+)?json|x-ndjson)\b|^text\/csv\b/i;

/**
 * Routes that are never compressed. The answers of the first two have a secret next to texts that the client chose: their length
 * would reveal the secret (BREACH). Events of the stream must leave at once.
 */
const EXCLUDED = /^\/api\/v1\/(?:credentials|session|stream)(?:\/|$)/i;

/**
 * Compresses JSON, CSV and NDJSON with brotli or gzip, as `Accept-Encoding` allows.
 *
 * @returns {RequestHandler}
 */
export function compressAnswers() {
  const compress = compression({
    threshold: THRESHOLD,
    level: GZIP_LEVEL,
    brotli: { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } },
    filter: isCompressible,
  });
  return (req, res, next) => {
    if (EXCLUDED.test(`${req.baseUrl}${req.path}`)) next();
    else compress(req, res, next);
  };
}

/** @param {Request} _req @param {Response} res */
const isCompressible = (_req, res) => TYPES.test(String(res.getHeader('Content-Type') ?? ''));

/**
 * Sends what the compression of an answer still holds back. Otherwise a client of an export would wait for a full block.
 *
 * @param {Response & { flush?: () => void }} res compressed or not
 */
export const flushCompressed = (res) => res.flush?.();
