import type { Gate } from '../../api/store/sending/session.ts';

/** Sends a request through a gate, as the session of the store does. */
export async function withPermit<T>(gate: Gate, request: () => Promise<T>): Promise<T> {
  const room = gate.enter();
  if (room !== undefined) await room;
  const began = performance.now();
  let failure: unknown;
  try {
    return await request();
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    gate.leave(began, failure);
  }
}
