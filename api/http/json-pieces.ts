import { CHUNK } from './export.js';
import { createWrite } from './write.js';

/** @import { Response } from 'express' */

/**
 * Writes the items of a JSON array, no faster than the client reads them. It sends nothing before the first items are read. So
 * if that read fails, the answer can still be a problem document.
 *
 * @param {Response} res
 * @param {{ begin: string, end: string, signal: AbortSignal }} frame `begin` and `end`: texts around the items
 * @param {AsyncIterable<Iterable<string>>} pieces items as JSON
 */
export async function sendPieces(res, { begin, end, signal }, pieces) {
  const write = createWrite(res, signal, 'utf8');
  let text = begin;
  let separator = '';
  for await (const some of pieces) {
    for (const piece of some) {
      text += separator + piece;
      separator = ',';
      if (text.length < CHUNK) continue;
      if (!res.headersSent) res.type('json');
      await write(text);
      text = '';
    }
  }
  if (!res.headersSent) res.type('json');
  res.end(text + end);
}
