/** @param {AbortSignal} signal @returns {Promise<void>} when it is aborted */
export const whenAborted = (signal) =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/**
 * Makes a deadline, after which its caller stops waiting.
 *
 * @param {number} ms from now
 * @returns {{ passed: Promise<void>, cancel: () => void }} `passed` never settles after `cancel`
 */
export function createDeadline(ms) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const passed = new Promise((/** @type {(value: void) => void} */ resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return { passed, cancel: () => clearTimeout(timer) };
}
