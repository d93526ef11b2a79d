/** @returns resolves when the signal is aborted */
export const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/**
 * Creates a deadline after which the caller stops waiting.
 * @param ms time from now
 * @returns `passed` resolves at the deadline; after `cancel` it never settles
 */
export function createDeadline(ms: number): { passed: Promise<void>; cancel: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return { passed, cancel: () => clearTimeout(timer) };
}
