import type { Child } from './child.ts';

/** If a restarted child is killed again within this time, in ms, it is not restarted. */
const STEADY_MS = 5000;

/**
 * A person may kill a child by mistake, or the system because of low memory. A child that ends by itself is not started again.
 * @returns `exited` settles when the child has ended and is not started again
 */
export function restartWhenKilled(
  start: () => Child,
  {
    onKilled,
    clock = () => performance.now(),
  }: {
    onKilled: (signal: NodeJS.Signals, again: boolean) => void;
    /** ms, monotonic */
    clock?: () => number;
  },
): Pick<Child, 'exited' | 'stop' | 'kill'> {
  let child = start();
  let isWanted = true;

  async function run() {
    for (let isFirst = true; ; isFirst = false) {
      const began = clock();
      const error = await child.exited;
      const { signal } = child;
      if (!isWanted || !error || !signal) return error;
      const again = isFirst || clock() - began >= STEADY_MS;
      onKilled(signal, again);
      if (!again) return null;
      child = start();
    }
  }

  return {
    exited: run(),
    kill() {
      isWanted = false;
      child.kill();
    },
    stop(options) {
      isWanted = false;
      return child.stop(options);
    },
  };
}
