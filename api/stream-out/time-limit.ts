/** Time limit in ms for each task when a process stops: sending the waiting items, writing notes, and finishing the present step. */
export const STOP_WITHIN_MS = 1500;

/**
 * Waits until work has settled, but no longer than the time limit.
 *
 * @param {Promise<unknown>} work
 * @param {number} [withinMs]
 */
export async function withTimeLimit(work, withinMs = STOP_WITHIN_MS) {
  /** @type {NodeJS.Timeout | undefined} */
  let limit;
  const tooLong = new Promise((resolve) => {
    limit = setTimeout(resolve, withinMs);
  });
  await Promise.race([work, tooLong]);
  clearTimeout(limit);
}
