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
 * @returns {{ bytes: number, read: () => Promise<Buffer>, signal: AbortSignal }} `bytes`: its size, or the limit
 *   if the size is unknown; `signal` aborts when the client disconnects
 * @throws {MillraceError} `too_large`, `unknown_format`; `read` also throws `bad_request` if the client disconnects
 */
export function bodyOf(req, res, limit) {
  closeUnread(req, res);
  const { 'content-encoding': coding, 'content-length': length } = req.headers;
  if (coding !== undefined && coding !== 'identity') {
    throw new MillraceError('unknown_format', 'Send the body without a content coding.');
  }
  if (Number(length) > limit) throw tooLarge(limit);
  const closed = new AbortController();
  res.on('close', () => closed.abort());
  return {
    bytes: length === undefined ? limit : Number(length),
    read: () => readBody(req, limit),
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

/**
 * Lets a client notice an answer that came before the end of its body. If the connection closed at once, a client that still sends
 * would lose the answer. The rest of the body is discarded.
 *
 * @param {Request} req
 * @param {Response} res
 */
function closeUnread(req, res) {
  res.once('finish', () => {
    if (req.complete) return;
    const timer = setTimeout(() => req.socket.destroy(), LINGER_MS);
    req.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
    req.resume();
  });
}

/** @param {number} limit bytes */
const tooLarge = (limit) => new MillraceError('too_large', `The limit of a body is ${limit} bytes.`);
