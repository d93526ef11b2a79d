import { createQueue } from './queue.js';

/** So many connections are read on in one turn of the event loop, and fewer where the first of them fill the room. */
const WOKEN_AT_ONCE = 8;

/**
 * Connections that are not read because messages of others wait for the byte budget already. When there is room again
 * they are read in the order in which they came to wait, a few at a time.
 *
 * @param {import('./byte-budget.js').Room} room
 */
export function createTurns(room) {
  /** @type {ReturnType<typeof createQueue<() => void>>} */
  const waiting = createQueue();
  let scheduled = false;

  function schedule() {
    if (scheduled || room.full || waiting.size === 0) return;
    scheduled = true;
    setImmediate(readOn);
  }

  function readOn() {
    scheduled = false;
    // What a connection has to say is read within the call, so `full` is known before the next one is asked.
    for (let woken = 0; woken < WOKEN_AT_ONCE && !room.full; woken++) waiting.shift()?.();
    schedule();
  }

  room.onFree(schedule);

  return {
    get full() {
      return room.full;
    },
    /** @param {() => void} readOn @returns {() => void} waits no more */
    wait: (readOn) => waiting.push(readOn),
    /** How many connections wait. */
    get waiting() {
      return waiting.size;
    },
  };
}

/** @typedef {ReturnType<typeof createTurns>} Turns */
