import type { StatusLine } from '../../common/status-line.ts';

/** Two signals within this time, in ms, count as one: on Ctrl-C the terminal signals npm and this process, and npm forwards its signal. */
const SAME_MS = 700;
const KILLED_EXIT = 130;

/**
 * Handles SIGINT, SIGTERM and SIGHUP. The first signal starts an orderly stop. A second signal kills all remaining processes at once.
 * @returns `stop` is aborted by the first signal. `onKill` registers a function that the second signal calls
 */
export function listenForStop(line: StatusLine): { stop: AbortSignal; onKill: (kill: () => void) => void } {
  const controller = new AbortController();
  const kills: (() => void)[] = [];
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
  return { stop: controller.signal, onKill: (kill) => void kills.push(kill) };
}
