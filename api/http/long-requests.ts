import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Response } from 'express';
import pLimit from 'p-limit';
import { MillraceError } from '../../common/errors.ts';

/**
 * Limits of concurrent long requests, for all clients of a process together. Above its limit a request is refused. Only a page
 * (`pages`) and a series as JSON (`points`) wait instead.
 *
 * The requests are long for these reasons: An export reads ahead for its client. A series may read a year. A query may read
 * thousands of sensors. A stream is written to until it ends.
 */
export const MAX_CONCURRENT = {
  streams: 2000,
  exports: 16,
  series: 128,
  queries: 8,
  pages: 8,
  points: 8,
};

export const createConcurrencyLimits = (limits: typeof MAX_CONCURRENT) => ({
  streams: createConcurrencyLimit(
    limits.streams,
    'This process serves as many live streams as it can; try again later.',
  ),
  exports: createConcurrencyLimit(
    limits.exports,
    'This process makes as many exports as it can; try again later.',
  ),
  series: createConcurrencyLimit(
    limits.series,
    'This process reads as many series as it can; try again later.',
  ),
  queries: createConcurrencyLimit(
    limits.queries,
    'This process answers as many queries of many sensors as it can; try again later.',
  ),
  pages: createWaitingLimit(limits.pages),
  points: createWaitingLimit(limits.points),
});

export type Limits = ReturnType<typeof createConcurrencyLimits>;

/**
 * Runs at most `concurrency` answers at once. Without this limit, 500 concurrent requests for `latest` delayed acknowledgements and health
 * checks by 0.9 s, and 100 requests for a device of 10,000 sensors delayed them by 4.9 s. An answer ends when it is handed over to the
 * socket, however slowly the client reads.
 */
export function createWaitingLimit(concurrency: number) {
  const limit = pLimit(concurrency);
  /** If the client has disconnected, `answer` is not called. */
  return (res: Response, answer: () => Promise<unknown>): Promise<void> =>
    limit(async () => {
      if (res.closed) return;
      try {
        await answer();
      } finally {
        await nextTurn();
      }
    });
}

export type WaitingLimit = ReturnType<typeof createWaitingLimit>;

export function createConcurrencyLimit(limit: number, message: string) {
  let running = 0;
  return {
    /** The result releases the place; further calls have no effect. @throws `busy` */
    acquire(): () => void {
      if (running >= limit) throw new MillraceError('busy', message);
      running++;
      let isHeld = true;
      return () => {
        if (isHeld) running--;
        isHeld = false;
      };
    },
  };
}

export type ConcurrencyLimit = ReturnType<typeof createConcurrencyLimit>;

/** Errors after a disconnect of the client are dropped. */
export async function abortOnClose(res: Response, work: (signal: AbortSignal) => Promise<void>) {
  const closed = new AbortController();
  res.once('close', () => closed.abort());
  try {
    await work(closed.signal);
  } catch (error) {
    if (!closed.signal.aborted) throw error;
  }
}
