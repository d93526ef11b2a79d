/** @import { Child } from './child.js' */

/** A child that is killed again this soon after its restart stays down, in ms. */
const STEADY_MS = 5000;

/**
 * A child that is started again when it is killed: by a person by mistake, or by the system because memory is short. A child that ends
 * by itself, with or without an error, is not started again.
 *
 * @param {() => Child} start
 * @param {object} options
 * @param {(signal: NodeJS.Signals, again: boolean) => void} options.onKilled `again`: whether it is started again
 * @param {() => number} [options.clock] ms, monotonic
 * @returns {Pick<Child, 'exited' | 'stop' | 'kill'>} `exited` settles when no child is left
 */
export function restartWhenKilled(start, { onKilled, clock = () => performance.now() }) {
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
