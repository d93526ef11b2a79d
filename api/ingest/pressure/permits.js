import { performance } from 'node:perf_hooks';
import { MillraceError } from '../../../common/errors.js';
import { createQueue } from '../queue.js';

/**
 * What bounds the requests in flight: `size` is looked at anew for each of them.
 *
 * @typedef {object} Bound
 * @property {number} size
 * @property {() => void} [noteWaiting] a request has to wait
 * @property {(began: number, failed: boolean) => void} [note] a request was answered; `began` in ms of `performance.now()`
 */

/**
 * Bounds how many requests to the database are in flight. A permit belongs to one request, from sending to answer,
 * and is given back on every path; whoever waits for one holds none, so any message, however many requests it needs,
 * gets through even with a bound of 1.
 *
 * @param {Bound} bound
 */
export function createPermits(bound) {
  let inUse = 0;
  /** @type {ReturnType<typeof createQueue<() => void>>} */
  const waiting = createQueue();

  /** Lets as many go as there are permits: a bound that has grown lets several. Called with every answer. */
  function goOn() {
    while (inUse < bound.size) {
      const next = waiting.shift();
      if (!next) return;
      inUse++;
      next();
    }
  }

  return {
    /**
     * @template T
     * @param {() => Promise<T>} request
     * @returns {Promise<T>}
     */
    async run(request) {
      if (inUse < bound.size && waiting.size === 0) inUse++;
      else {
        bound.noteWaiting?.();
        await new Promise((resolve) => waiting.push(() => resolve(undefined)));
      }
      const began = performance.now();
      let failed = false;
      try {
        return await request();
      } catch (error) {
        failed = isFailure(error);
        throw error;
      } finally {
        inUse--;
        bound.note?.(began, failed);
        goOn();
      }
    },
    goOn,
    get inUse() {
      return inUse;
    },
    get waiting() {
      return waiting.size;
    },
  };
}

/** @typedef {ReturnType<typeof createPermits>} Permits */

/** A refusal is an answer like any other: it says nothing of how busy the database is. @param {unknown} error */
const isFailure = (error) => error instanceof MillraceError && error.code === 'unavailable';
