import { setTimeout as sleep } from 'node:timers/promises';

/** @import { Latency } from '../../../simulator/meter.js' */

/**
 * An open loop sends at a fixed rate, however long answers take. Each call gets the time at which it was meant
 * to be sent. Its latency counts from there, so a wait because of a busy machine is included.
 *
 * @param {object} options
 * @param {number} options.rate a second
 * @param {number} options.forMs Infinity: until it is stopped
 * @param {(intended: number) => void} options.send `intended`: by performance.now()
 * @param {() => void} [options.flush] called after those that were due together
 * @param {AbortSignal} [options.signal] ends it early
 * @returns {Promise<number>} how many were sent
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
