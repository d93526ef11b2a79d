import { callAfter } from '../common/durations.ts';

/**
 * npm forwards Ctrl-C to a child process that has already received it from the terminal. So a second signal within this time is ignored.
 */
const SAME_SIGNAL_MS = 1000;

/** As a shell reports for a process that Ctrl-C ended. */
const EXIT_INTERRUPTED = 130;

/**
 * Ends a run early: after Ctrl-C, SIGTERM, the end of the parent process, the end of the duration, or an internal error. A second Ctrl-C
 * ends the process at once.
 */
export function createStopSignal() {
  const controller = new AbortController();
  let signalledAt = 0;
  let cancelEnd = () => {};

  const stop = (reason: unknown) => {
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
  // The event is missed if the parent ended while the modules loaded. Without a parent, `connected` is undefined.
  if (process.connected === false) onEnd();
  // The process ends when the channel of its parent closes. But the channel must not keep a finished process alive.
  process.channel?.unref();

  return {
    signal: controller.signal,
    stop,
    stopAfter(ms: number | undefined) {
      if (ms !== undefined && !controller.signal.aborted) cancelEnd = callAfter(ms, onEnd);
    },
    dispose() {
      cancelEnd();
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
      process.off('disconnect', onEnd);
    },
  };
}

export type StopSignal = ReturnType<typeof createStopSignal>;
