/** @import { StatusLine } from '../../common/status-line.js' */

/** On Ctrl-C a terminal signals npm and this process, and npm forwards its signal. Two signals within this time, in ms, count as one. */
const SAME_MS = 700;
const KILLED_EXIT = 130;
const NPM_CHECK_MS = 1000;

/**
 * The first SIGINT, SIGTERM or SIGHUP asks everything to stop; a second one kills what is left at once.
 *
 * @param {StatusLine} line
 * @returns {{ stop: AbortSignal, onKill: (kill: () => void) => void }} `onKill` takes what the second signal calls
 */
export function listenForStop(line) {
  const controller = new AbortController();
  /** @type {(() => void)[]} */
  const kills = [];
  let firstAt = 0;

  const onSignal = () => {
    if (!controller.signal.aborted) {
      firstAt = Date.now();
      controller.abort();
    } else if (Date.now() - firstAt > SAME_MS) {
      line.clear();
      line.print('Killed.');
      for (const kill of kills) kill();
      process.exit(KILLED_EXIT);
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, onSignal);
  watchNpm(onSignal);
  return { stop: controller.signal, onKill: (kill) => void kills.push(kill) };
}

/**
 * If npm started this process, the process ends with npm: a killed npm passes no signal on.
 *
 * @param {() => void} onGone
 */
function watchNpm(onGone) {
  if (!process.env['npm_lifecycle_event']) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onGone();
  }, NPM_CHECK_MS);
  timer.unref();
}
