/**
 * The one way in which a run ends before its time: Ctrl-C, SIGTERM, the parent process gone, the duration over, or a
 * reason from inside. A second Ctrl-C ends the process at once, as it does by default.
 *
 * @param {{ afterMs?: number }} options
 */
export function createStopSignal({ afterMs }) {
  const controller = new AbortController();
  const stop = (/** @type {unknown} */ reason) => {
    dispose();
    controller.abort(reason);
  };
  const onSignal = () => stop('stopped');
  const timer = afterMs === undefined ? undefined : setTimeout(onSignal, afterMs);

  function dispose() {
    clearTimeout(timer);
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
    process.off('disconnect', onSignal);
  }

  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  process.on('disconnect', onSignal);
  // A parent's channel must end us when it closes, and must not keep us alive when we are done.
  process.channel?.unref();

  return { signal: controller.signal, stop, dispose };
}

/** @typedef {ReturnType<typeof createStopSignal>} StopSignal */
