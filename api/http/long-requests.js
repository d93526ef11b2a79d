import { setImmediate as othersHadTheirTurn } from 'node:timers/promises';
import pLimit from 'p-limit';
import { MillraceError } from '../../common/errors.js';

/** @import { Response } from 'express' */

/**
 * Requests that take long: how many of them run at once, and their end when the client disconnects.
 *
 * The limits count the requests of all clients. Above its limit a request is refused, but a page (`pages`) or a series as JSON (`points`)
 * waits for its turn. An export reads ahead for its client, an import holds up to 32 MB of samples, a series
 * may read a year, a query may read thousands of sensors, a test of an alarm rule fifty of them, and a stream is written to until it ends.
 */
export const MAX_CONCURRENT = {
  streams: 2000,
  exports: 16,
  imports: 2,
  series: 128,
  queries: 8,
  changes: 64,
  pages: 8,
  points: 8,
};

/** @param {typeof MAX_CONCURRENT} limits */
export const createConcurrencyLimits = (limits) => ({
  streams: createConcurrencyLimit(
    limits.streams,
    'This process serves as many live streams as it can; try again later.',
  ),
  exports: createConcurrencyLimit(
    limits.exports,
    'This process makes as many exports as it can; try again later.',
  ),
  imports: createConcurrencyLimit(
    limits.imports,
    'This process imports as many files as it can; try again later.',
  ),
  changes: createConcurrencyLimit(
    limits.changes,
    'This process serves as many readers of changes as it can; try again later.',
  ),
  series: createConcurrencyLimit(
    limits.series,
    'This process reads as many series as it can; try again later.',
  ),
  queries: createConcurrencyLimit(
    limits.queries,
    'This process answers as many queries of many sensors as it can; try again later.',
  ),
  pages: createTurns(limits.pages),
  points: createTurns(limits.points),
});

/**
 * Large answers by turns: a few are made at once, and the others wait. Without turns, 500 requests at once for `latest` held up acknowledgements and
 * health checks for 0.9 s, and 100 for a device of 10,000 sensors for 4.9 s. A turn ends when the answer is handed over, however slowly the client reads.
 *
 * @param {number} most
 */
export function createTurns(most) {
  const limit = pLimit(most);
  /**
   * @param {Response} res a client that disconnected before its turn gets no answer
   * @param {() => Promise<unknown>} answer
   * @returns {Promise<void>}
   */
  return (res, answer) =>
    limit(async () => {
      if (res.closed) return;
      await answer();
      await othersHadTheirTurn();
    });
}

/** @typedef {ReturnType<typeof createTurns>} Turns */

/**
 * @param {number} limit
 * @param {string} message of the error when the limit is reached
 */
export function createConcurrencyLimit(limit, message) {
  let running = 0;
  return {
    /**
     * @returns {() => void} releases the place; further calls have no effect
     * @throws {MillraceError} `busy`
     */
    acquire() {
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

/** @typedef {ReturnType<typeof createConcurrencyLimit>} ConcurrencyLimit */

/**
 * Runs `work` with a signal that aborts when the client disconnects. Errors after that are dropped.
 *
 * @param {Response} res
 * @param {(signal: AbortSignal) => Promise<void>} work
 */
export async function abortOnClose(res, work) {
  const closed = new AbortController();
  res.once('close', () => closed.abort());
  try {
    await work(closed.signal);
  } catch (error) {
    if (!closed.signal.aborted) throw error;
  }
}
