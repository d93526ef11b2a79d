import type { Response } from 'express';
import { flushCompressed } from '../../../http/index.ts';

/** In characters. Smaller writes would cost more than formatting their content. */
export const CHUNK = 64 * 1024;

/** No faster than the client reads: a write resolves when the response accepts more. latin1 is faster for ASCII. */
export function createWrite(
  res: Response,
  signal: AbortSignal,
  encoding: 'latin1' | 'utf8',
): (part: string | Uint8Array) => Promise<void> {
  let wake = () => {};
  // One listener serves all writes. `compression` 1.8 moves a listener to its own stream, and `once` cannot remove the listener there.
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

/**
 * It sends nothing before the first items are read. So if that read fails, the answer can still be a problem document. `pieces`: items as
 * JSON.
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
