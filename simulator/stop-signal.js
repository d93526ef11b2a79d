import { callAfter } from '../common/durations.js';

/**
 * npm forwards Ctrl-C to a child that has already received it from the terminal. A signal within this time, in ms, is the same Ctrl-C.
 */
const SAME_SIGNAL_MS = 1000;

/** The exit code that a shell reports for a process that Ctrl-C ended. */
const EXIT_INTERRUPTED = 130;

/**
 * The signal that ends a run before its time: after Ctrl-C, SIGTERM, the end of the parent process, the end of the duration, or for an
 * internal reason. A second Ctrl-C ends the process at once.
 */
export function createStopSignal() {
  const controller = new AbortController();
  let signalledAt = 0;
  let cancelEnd = () => {};

  /** @param {unknown} reason becomes the signal's reason */
  const stop = (reason) => {
    cancelEnd();
    controller.abort(reason);
  };
  const onEnd = () => stop('stopped');
  const onSignal = () => {
    if (signalledAt > 0 && Date.now() - signalledAt > SAME_SIGNAL_MS) process.exit(EXIT_INTERRUPTED);
    if (signalledAt === 0) signalledAt = Date.now();
    stop('stopped');
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  process.on('disconnect', onEnd);
  // The event was missed if the parent ended while the modules loaded. (Undefined: there is no parent.)
  if (process.connected === false) onEnd();
  // The process ends when the channel of its parent closes. The channel must not keep a finished process alive.
  process.channel?.unref();

  return {
    signal: controller.signal,
    stop,
    /** @param {number | undefined} ms from now; undefined: never */
    stopAfter(ms) {
      if (ms !== undefined && !controller.signal.aborted) cancelEnd = callAfter(ms, onEnd);
    },
    /** Removes the signal handlers of the process. */
    dispose() {
      cancelEnd();
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
      process.off('disconnect', onEnd);
    },
  };
}

/** @typedef {ReturnType<typeof createStopSignal>} StopSignal */
