import { callAfter } from '../common/durations.ts';
import { listenForStop } from '../common/stop-signal.ts';

/**
 * Ends a run early: after a signal, the end of the parent process, the end of the duration, or an internal error. A second signal ends the
 * process at once.
 */
export function createStopSignal() {
  const controller = new AbortController();
  let cancelEnd = () => {};

  const stop = (reason: unknown) => {
    cancelEnd();
    controller.abort(reason);
  };
  const onEnd = () => stop('stopped');
  listenForStop(onEnd);
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
      process.off('disconnect', onEnd);
    },
  };
}

export type StopSignal = ReturnType<typeof createStopSignal>;
