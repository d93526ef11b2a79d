/** @import { Response } from 'express' */

/**
 * Does something for a client for as long as he is there: when he goes away, `signal` aborts, and that is all.
 *
 * @param {Response} res
 * @param {(signal: AbortSignal) => Promise<void>} work
 */
export async function abortOnClose(res, work) {
  const gone = new AbortController();
  // Before the end of the answer: nobody is there any more to hear the rest.
  res.once('close', () => gone.abort());
  try {
    await work(gone.signal);
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
}
