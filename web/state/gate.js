/** @import { Client } from '../api/client.js' */

/**
 * Lets a few requests through at once; the others wait in order.
 *
 * @param {number} most
 */
export function createGate(most) {
  let passing = 0;
  /** @type {(() => void)[]} */
  const waiting = [];

  /** Whoever waits longest goes in the place of who leaves: nobody comes in between. */
  function leave() {
    const next = waiting.shift();
    if (next) next();
    else passing -= 1;
  }

  return {
    /**
     * @template T
     * @param {() => Promise<T>} request begun in its turn
     * @param {AbortSignal} [signal] who gives up while waiting asks nothing
     * @returns {Promise<T>}
     */
    async pass(request, signal) {
      if (passing >= most) await new Promise((go) => waiting.push(() => go(undefined)));
      else passing += 1;
      try {
        signal?.throwIfAborted();
        return await request();
      } finally {
        leave();
      }
    },
  };
}

/** @typedef {ReturnType<typeof createGate>} Gate */

/**
 * The client for a page of many charts: few of their readings are under way at once.
 *
 * @param {Client} client
 * @param {Gate} gate
 * @returns {Client}
 */
export const gated = (client, gate) => ({
  ...client,
  series: (device, sensor, query, signal) =>
    gate.pass(() => client.series(device, sensor, query, signal), signal),
  samples: (device, sensor, query, signal) =>
    gate.pass(() => client.samples(device, sensor, query, signal), signal),
});
