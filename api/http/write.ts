import type { Response } from 'express';
import { flushCompressed } from './compression.ts';

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
