/** @param {AbortSignal} signal @returns {Promise<void>} resolves when the signal is aborted */
export const whenAborted = (signal) =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/**
 * Creates a deadline after which the caller stops waiting.
 *
 * @param {number} ms time from now
 * @returns {{ passed: Promise<void>, cancel: () => void }} `passed` resolves at the deadline; after `cancel` it never settles
 */
export function createDeadline(ms) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const passed = new Promise((/** @type {(value: void) => void} */ resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return { passed, cancel: () => clearTimeout(timer) };
}
