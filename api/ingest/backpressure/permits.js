import { MillraceError } from '../../../common/errors.js';
import { Queue } from './queue.js';

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
  /** @type {Queue<() => void>} */
  const waiting = new Queue();

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
    /** @returns {Promise<void> | undefined} settles when the request may be sent; undefined: at once */
    enter() {
      if (inUse < bound.size && waiting.size === 0) {
        inUse++;
        return undefined;
      }
      bound.noteWaiting?.();
      return new Promise((resolve) => waiting.push(resolve));
    },

    /**
     * Gives the permit back, once for each that was got.
     *
     * @param {number} began when the request was sent, in ms of `performance.now()`
     * @param {unknown} [error] what it failed with
     */
    leave(began, error) {
      inUse--;
      bound.note?.(began, isFailure(error));
      goOn();
    },

    /** Returns a permit with which nothing was sent. It measures nothing, so the bound does not learn of it. */
    cancel() {
      inUse--;
      goOn();
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
