/** @import { Gate } from '../../api/store/sending/session.js' */

/**
 * Sends a request through a gate, as the session of the store does.
 *
 * @template T
 * @param {Gate} gate
 * @param {() => Promise<T>} request
 * @returns {Promise<T>}
 */
export async function withPermit(gate, request) {
  const room = gate.enter();
  if (room) await room;
  const began = performance.now();
  /** @type {unknown} */
  let failure;
  try {
    return await request();
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    gate.leave(began, failure);
  }
}
