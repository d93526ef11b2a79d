import { MillraceError } from '../../../common/errors.js';
import { createQueue } from './queue.js';

/** What a message costs beside its payload: its decoded samples, its promises, its place in queues; in bytes. */
const MESSAGE_OVERHEAD = 2048;

/**
 * Bounds the bytes of messages that are being settled. Messages enter in the order in which they came; one that is
 * larger than the whole budget enters alone. Those that wait are in memory all the same, so intakes read no further
 * while somebody waits, and what a closed connection has waiting leaves.
 *
 * @param {number} most bytes
 */
export function createBudget(most) {
  let used = 0;
  /** @type {ReturnType<typeof createQueue<{ cost: number, enter: () => void }>>} */
  const waiting = createQueue();
  /** @type {Array<() => void>} */
  const onRoom = [];

  /** @param {number} cost */
  const fits = (cost) => used === 0 || used + cost <= most;

  function admit() {
    for (let next = waiting.first; next && fits(next.cost); next = waiting.first) {
      waiting.shift();
      used += next.cost;
      next.enter();
    }
    if (waiting.size === 0) for (const listener of onRoom) listener();
  }

  /**
   * @param {number} cost
   * @param {AbortSignal} [signal]
   * @returns {Promise<void>}
   */
  const untilAdmitted = (cost, signal) =>
    new Promise((resolve, reject) => {
      const leave = waiting.push({
        cost,
        enter() {
          signal?.removeEventListener('abort', giveUp);
          resolve();
        },
      });
      function giveUp() {
        leave();
        reject(new MillraceError('unavailable', 'The connection closed before the message was begun.'));
        admit();
      }
      signal?.addEventListener('abort', giveUp, { once: true });
    });

  /**
   * @param {number} payloadBytes
   * @param {AbortSignal} [signal] whoever waits for the message is gone; what was begun is finished all the same
   * @returns {Promise<void> | undefined} settles when the message may be begun; undefined: at once
   * @throws {MillraceError} `unavailable`: aborted before it was begun
   */
  function enter(payloadBytes, signal) {
    const cost = payloadBytes + MESSAGE_OVERHEAD;
    if (waiting.size > 0 || !fits(cost)) return untilAdmitted(cost, signal);
    used += cost;
    return undefined;
  }

  /** @param {number} payloadBytes of a message that was let in */
  function leave(payloadBytes) {
    used -= payloadBytes + MESSAGE_OVERHEAD;
    admit();
  }

  return {
    enter,
    leave,

    /**
     * @template T
     * @param {number} payloadBytes
     * @param {() => Promise<T>} work begun at once where there is room
     * @param {AbortSignal} [signal] whoever waits for the work is gone; what was begun is finished all the same
     * @returns {Promise<T>}
     * @throws {MillraceError} `unavailable`: aborted before it was begun
     */
    async run(payloadBytes, work, signal) {
      const room = enter(payloadBytes, signal);
      if (room !== undefined) await room;
      try {
        return await work();
      } finally {
        leave(payloadBytes);
      }
    },

    /** What an intake has to know, so that it reads no more than there is room for. */
    room: {
      /** Whether messages wait: what is read now only waits behind them. */
      get full() {
        return waiting.size > 0;
      },
      /** @param {number} payloadBytes @returns {boolean} whether a message of this size would be begun at once */
      fits: (payloadBytes) => waiting.size === 0 && fits(payloadBytes + MESSAGE_OVERHEAD),
      /** @param {() => void} listener called whenever a message has left and nobody waits any more */
      onFree(listener) {
        onRoom.push(listener);
      },
    },
    get used() {
      return used;
    },
    get waiting() {
      return waiting.size;
    },
  };
}

/** @typedef {ReturnType<typeof createBudget>} Budget */
/** @typedef {Budget['room']} Room */
