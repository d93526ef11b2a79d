/**
 * Time limit in ms for each part of a process stop: sending the waiting items, writing notes, and the step
 * under way.
 */
export const STOP_WITHIN_MS = 1500;

/**
 * Waits for work, but no longer than the stop of a process may take.
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
