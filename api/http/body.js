import { MillraceError } from '../../common/errors.js';

/** @import { Request, Response } from 'express' */

/** After an answer that did not wait for the whole body, the rest may still come for this long, in ms. */
const LINGER_MS = 2000;

/**
 * The body of a request: not read before somebody asks for it, and never more of it kept than is allowed. How long it
 * may take is the server's business (`requestTimeout`).
 *
 * @param {Request} req
 * @param {Response} res
 * @param {number} most bytes
 * @returns {{ bytes: number, read: () => Promise<Buffer>, signal: AbortSignal }} `bytes`: how many it has at most;
 *   `signal` aborts when the sender goes away
 * @throws {MillraceError} `too_large`, `unknown_format`; `read` also `bad_request` when the sender goes away
 */
export function bodyOf(req, res, most) {
  closeUnread(req, res);
  const { 'content-encoding': coding, 'content-length': length } = req.headers;
  if (coding !== undefined && coding !== 'identity') {
    throw new MillraceError('unknown_format', 'A body is taken as it is, without a content coding.');
  }
  if (Number(length) > most) throw tooLarge(most);
  const gone = new AbortController();
  res.on('close', () => gone.abort());
  return {
    bytes: length === undefined ? most : Number(length),
    read: () => readBody(req, most),
    signal: gone.signal,
  };
}

/** @param {Request} req @param {number} most @returns {Promise<Buffer>} */
function readBody(req, most) {
  return new Promise((resolve, reject) => {
    /** @type {Buffer[]} */
    const chunks = [];
    let bytes = 0;
    req.on('data', (/** @type {Buffer} */ chunk) => {
      bytes += chunk.length;
      if (bytes <= most) return void chunks.push(chunk);
      chunks.length = 0;
      reject(tooLarge(most));
    });
    req.once('end', () => resolve(Buffer.concat(chunks)));
    // Nobody is left to be told; what was kept is let go.
    const brokenOff = () => reject(new MillraceError('bad_request', 'The body broke off.'));
    if (req.destroyed) brokenOff();
    else req.once('close', brokenOff);
  });
}

/**
 * Somebody who is answered before the end of his body gets a moment to notice: a connection that is closed while he
 * still sends would take the answer with it. What comes meanwhile is passed over.
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

/** @param {number} most */
const tooLarge = (most) => new MillraceError('too_large', `A message is ${most} bytes at most.`);
