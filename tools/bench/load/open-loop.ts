import { setTimeout as sleep } from 'node:timers/promises';

/** @import { Latency } from '../../../simulator/meter.js' */

/**
 * Sends at a fixed rate, however long answers take (an open loop). Each call gets the time at which it was due. Its latency
 * counts from that time, so a delay because of a busy machine is included.
 *
 * @param {object} options
 * @param {number} options.rate calls a second
 * @param {number} options.forMs Infinity: until `signal` aborts
 * @param {(intended: number) => void} options.send gets the time at which the call was due, in ms of `performance.now()`
 * @param {() => void} [options.flush] called after all calls that were due together
 * @param {AbortSignal} [options.signal] ends the loop early
 * @returns {Promise<number>} number of calls
 */
export async function pace({ rate, forMs, send, flush = () => {}, signal }) {
  const began = performance.now();
  const total = Math.round((rate * forMs) / 1000);
  let sent = 0;
  while (sent < total && !signal?.aborted) {
    const due = Math.min(total, Math.floor(((performance.now() - began) * rate) / 1000) + 1);
    for (; sent < due; sent++) send(began + (sent * 1000) / rate);
    flush();
    await sleep(1);
  }
  return sent;
}

/** The latencies of at least one call, so that no figure is null. @typedef {{ [K in keyof Latency]: number }} Latencies */
