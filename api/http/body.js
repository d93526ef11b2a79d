import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { MillraceError } from '../../common/errors.js';

/** @import { Request, Response } from 'express' */

/** After an early answer the rest of the body may arrive for this time, in ms. */
const LINGER_MS = 2000;

/**
 * The body of a request. It is read on demand and never buffered beyond the limit. `requestTimeout` of the server limits its
 * time.
 *
 * @param {Request} req
 * @param {Response} res
 * @param {number} limit bytes
 * @param {{ gzip?: boolean }} [options] `gzip`: it may be compressed; the limit is for both forms of it
 * @returns {{ bytes: number, read: () => Promise<Buffer>, signal: AbortSignal }} `bytes`: its size, or the limit
 *   if the size is unknown; `signal` aborts when the client disconnects
 * @throws {MillraceError} `too_large`, `unknown_format`; `read` also throws `bad_request` if the client disconnects, and `malformed` if
 *   it is not valid gzip
 */
export function bodyOf(req, res, limit, { gzip = false } = {}) {
  closeUnread(req, res);
  const { 'content-encoding': coding, 'content-length': length } = req.headers;
  const isGzip = gzip && coding?.toLowerCase() === 'gzip';
  if (coding !== undefined && coding !== 'identity' && !isGzip) {
    const message = gzip ? 'Send the body as it is, or as gzip.' : 'Send the body without a content coding.';
    throw new MillraceError('unknown_format', message);
  }
  if (Number(length) > limit) throw tooLarge(limit);
  const closed = new AbortController();
  res.on('close', () => closed.abort());
  return {
    bytes: length === undefined || isGzip ? limit : Number(length),
    read: async () => (isGzip ? unzip(await readBody(req, limit), limit) : readBody(req, limit)),
    signal: closed.signal,
  };
}

/** @param {Request} req @param {number} limit @returns {Promise<Buffer>} */
function readBody(req, limit) {
  return new Promise((resolve, reject) => {
    /** @type {Buffer[]} */
    const chunks = [];
    let bytes = 0;
    req.on('data', (/** @type {Buffer} */ chunk) => {
      bytes += chunk.length;
      if (bytes <= limit) return void chunks.push(chunk);
      chunks.length = 0;
      reject(tooLarge(limit));
    });
    req.once('end', () => resolve(Buffer.concat(chunks)));
    // The client is gone. The rejection releases the buffered chunks.
    const cutOff = () => reject(new MillraceError('bad_request', 'The body was cut off.'));
    if (req.destroyed) cutOff();
    else req.once('close', cutOff);
  });
}

const gunzipBody = promisify(gunzip);

/** @param {Buffer} body @param {number} limit bytes of the result @returns {Promise<Buffer>} @throws {MillraceError} `too_large`, `malformed` */
async function unzip(body, limit) {
  try {
    return await gunzipBody(body, { maxOutputLength: limit });
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit);
    throw new MillraceError('malformed', 'The body is not valid gzip.', { cause: error });
  }
}

/**
 * Lets a client notice an answer that came before the end of its body. If the connection closed at once, a client that still sends
 * would lose the answer. The rest of the body is discarded.
 *
 * @param {Request} req
 * @param {Response} res
 */
export function closeUnread(req, res) {
  res.once('finish', () => {
    if (req.complete) return;
    const timer = setTimeout(() => req.socket.destroy(), LINGER_MS);
    req.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
    req.resume();
  });
}

/** @param {number} limit bytes */
const tooLarge = (limit) => new MillraceError('too_large', `The limit of a body is ${limit} bytes.`);
