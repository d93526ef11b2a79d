/** @import { Gate } from '../../api/store/session.js' */

/**
 * A request behind a gate, as the store's session sends it.
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
