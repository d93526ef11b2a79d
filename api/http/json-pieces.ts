import type { Response } from 'express';
import { CHUNK } from './export.ts';
import { createWrite } from './write.ts';

/**
 * No faster than the client reads. It sends nothing before the first items are read. So if that read fails, the answer can still be a
 * problem document. `pieces`: items as JSON.
 */
export async function sendPieces(
  res: Response,
  { begin, end, signal }: { begin: string; end: string; signal: AbortSignal },
  pieces: AsyncIterable<Iterable<string>>,
) {
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
