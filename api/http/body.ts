import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { charsetOf, decodeText } from '../../common/encodings.js';
import { MillraceError } from '../../common/errors.js';

/** @import { Request, Response } from 'express' */

/** Time in ms for which the rest of a body may still arrive after an early answer. Then the connection is closed. */
const LINGER_MS = 2000;

/** The content codings of a compressed body (RFC 9110, 8.4.1; RFC 7932). `x-gzip` is another name of gzip. */
const CODINGS = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
]);

/** Accepted content codings, as the header `Accept-Encoding` lists them. */
const ACCEPTED = 'gzip, deflate, br';

/**
 * Prepares the read of a request body. The body is read on demand and never buffered beyond the limit. The server's
 * `requestTimeout` limits the time of the read.
 *
 * @param {Request} req
 * @param {Response} res
 * @param {number} limit bytes
 * @param {{ compressed?: boolean }} [options] `compressed`: the body may be compressed; the limit applies to the compressed and
 *   to the decompressed body
 * @returns {{ bytes: number, read: () => Promise<Buffer>, signal: AbortSignal }} `bytes`: size of the body, or the limit if the
 *   size is unknown; `signal` aborts when the client disconnects
 * @throws {MillraceError} `too_large`, `unknown_format`; `read` also throws `bad_request` if the client disconnects, and
 *   `malformed` if the body does not have its declared compression
 */
export function bodyOf(req, res, limit, { compressed = false } = {}) {
  closeUnread(req, res);
  const length = req.headers['content-length'];
  const coding = codingOf(req, res, compressed);
  const decompress = CODINGS.get(coding);
  if (Number(length) > limit) throw tooLarge(limit);
  const closed = new AbortController();
  res.on('close', () => closed.abort());
  return {
    bytes: length === undefined || decompress ? limit : Number(length),
    async read() {
      const body = await readBody(req, limit);
      return decompress ? decompressed(body, { decompress, coding, limit }) : body;
    },
    signal: closed.signal,
  };
}

/**
 * Reads the text of a JSON body.
 *
 * @param {Request} req
 * @param {Response} res
 * @param {number} limit bytes
 * @returns {Promise<string>}
 * @throws {MillraceError} `unknown_format`, `too_large`, `malformed`: the body is no text of its charset
 */
export async function readJsonText(req, res, limit) {
  const { read } = bodyOf(req, res, limit);
  if (!req.is('application/json')) throw new MillraceError('unknown_format', 'Send application/json.');
  return decodeText(await read(), charsetOf(req.headers['content-type']));
}

/**
 * Reads the content coding of a body. It refuses a coding that is not accepted.
 *
 * @param {Request} req
 * @param {Response} res
 * @param {boolean} compressed whether the body may be compressed
 * @returns {string} a key of `CODINGS`, or `identity`
 * @throws {MillraceError} `unknown_format`
 */
export function codingOf(req, res, compressed) {
  const coding = req.headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (coding === 'identity' || (compressed && CODINGS.has(coding))) return coding;
  // RFC 9110, 15.5.16: this header of a 415 answer names the accepted codings.
  res.set('Accept-Encoding', compressed ? ACCEPTED : 'identity');
  const message = compressed
    ? `Send the body as it is, or with one of the content codings ${ACCEPTED}.`
    : 'Send the body without a content coding.';
  throw new MillraceError('unknown_format', message);
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
    // The client has disconnected. The rejection releases the buffered chunks.
    const cutOff = () => reject(new MillraceError('bad_request', 'The body was cut off.'));
    if (req.destroyed) cutOff();
    else req.once('close', cutOff);
  });
}

/**
 * @param {Buffer} body
 * @param {{ decompress: (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>, coding: string, limit: number }} options
 *   `limit`: bytes of the result
 * @returns {Promise<Buffer>}
 * @throws {MillraceError} `too_large`, `malformed`
 */
async function decompressed(body, { decompress, coding, limit }) {
  try {
    return await decompress(body, { maxOutputLength: limit });
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit);
    throw new MillraceError('malformed', `The body is not valid ${coding}.`, { cause: error });
  }
}

/**
 * Keeps the connection open for a while after an answer that came before the end of the request body. If the connection closed
 * at once, a client that still sends would lose the answer. The rest of the body is discarded.
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
