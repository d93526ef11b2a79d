import { flushCompressed } from './compression.js';

/** @import { Response } from 'express' */

/**
 * Writes an answer of any length, no faster than the client reads it.
 *
 * @param {Response} res
 * @param {AbortSignal} signal aborts when the client disconnects
 * @param {'latin1' | 'utf8'} encoding of text; latin1 is quicker, for ASCII
 * @returns {(part: string | Uint8Array) => Promise<void>} settles when the response accepts more
 */
export function createWrite(res, signal, encoding) {
  let wake = () => {};
  // One listener serves all writes. `compression` 1.8 moves a listener to a stream of its own, from which
  // `once` cannot remove it.
  res.on('drain', () => wake());
  signal.addEventListener('abort', () => wake(), { once: true });
  return async (part) => {
    signal.throwIfAborted();
    const isReady = typeof part === 'string' ? res.write(part, encoding) : res.write(part);
    flushCompressed(res);
    if (isReady) return;
    await new Promise((resolve) => {
      wake = () => resolve(undefined);
    });
    signal.throwIfAborted();
  };
}
