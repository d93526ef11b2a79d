/** @import { Schedule } from './schedule.js' */

/** One timer does for all devices, and it need not fire more often than this: due times, not firing times, are measured. */
const SHORTEST_WAIT_MS = 4;

/** After so much work the event loop gets its turn, however much is due: acknowledgements come in there. */
const TURN_MS = 20;

/** Behind or ahead by more than this, the machine slept or its clock was set: what was missed was not measured. */
const LEAP_MS = 10_000;

/**
 * Calls `onDue` for every measurement of a schedule, in order, when its time has come.
 *
 * @param {object} options
 * @param {Schedule} options.schedule
 * @param {number} options.intervalMs
 * @param {(index: number, ts: number) => void} options.onDue `ts` in epoch ms, never ahead of the clock
 */
export function createClockwork({ schedule, intervalMs, onDue }) {
  const leapMs = Math.max(LEAP_MS, 2 * intervalMs);
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  let startedAt = 0;
  let next = 0;

  function run() {
    const now = Date.now();
    const behindMs = now - startedAt - schedule.dueMs(next);
    if (Math.abs(behindMs) > leapMs) startedAt += behindMs;
    while (startedAt + schedule.dueMs(next) <= now && Date.now() - now < TURN_MS) {
      onDue(next, startedAt + schedule.dueMs(next));
      next += 1;
    }
    const waitMs = startedAt + schedule.dueMs(next) - Date.now();
    timer = setTimeout(run, Math.max(SHORTEST_WAIT_MS, Math.min(waitMs, leapMs)));
  }

  return {
    start() {
      startedAt = Date.now();
      run();
    },
    stop: () => clearTimeout(timer),
  };
}
