import { MillraceError } from './errors.ts';

/**
 * Signals within this time, in ms, count as one: the terminal signals all processes of the group, and npm and `infra/first-stage.js`
 * forward theirs.
 */
const SAME_MS = 700;
/** As a shell reports for a process that Ctrl-C ended. */
const KILLED_EXIT = 130;

/**
 * Handles SIGINT, SIGTERM and SIGHUP until the process ends.
 * @param stop called at the first signal
 * @param kill called at the second signal, before the process exits at once
 */
export function listenForStop(stop: (signal: NodeJS.Signals) => void, kill: () => void = () => {}) {
  let firstAt: number | null = null;
  const onSignal = (signal: NodeJS.Signals) => {
    if (firstAt === null) {
      firstAt = Date.now();
      stop(signal);
    } else if (Date.now() - firstAt > SAME_MS) {
      kill();
      console.error('Killed.');
      process.exit(KILLED_EXIT);
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, onSignal);
}

/**
 * The second signal ends the process.
 * @returns aborted at the first signal, with the `MillraceError` `failed`, such as "Stopped by SIGINT."
 */
export function abortOnStop(): AbortSignal {
  const controller = new AbortController();
  listenForStop((signal) => controller.abort(new MillraceError('failed', `Stopped by ${signal}.`)));
  return controller.signal;
}
