import { performance } from 'node:perf_hooks';

/** After so much work the event loop gets its turn, however far behind: acknowledgements come in there. */
const TURN_MS = 5;

/**
 * Calls `onDue` at a fixed rate, whatever else happens: what is due late is due all the same, at the time at which it was
 * to be, and nothing is left out.
 *
 * @param {object} options
 * @param {number} options.perSecond
 * @param {(index: number, dueAt: number) => void} options.onDue `dueAt` in ms of `performance.now()`
 * @param {() => number} [options.now] ms of a clock that nobody sets
 */
export function createPacer({ perSecond, onDue, now: clock = () => performance.now() }) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  /** @type {NodeJS.Immediate | undefined} */
  let soon;
  let startedAt = 0;
  let next = 0;

  const dueAt = () => startedAt + (next * 1000) / perSecond;

  function run() {
    let now = clock();
    const turnEnds = now + TURN_MS;
    for (; dueAt() <= now && now < turnEnds; now = clock()) {
      onDue(next, dueAt());
      next += 1;
    }
    if (dueAt() <= now) soon = setImmediate(run);
    else timer = setTimeout(run, dueAt() - now);
  }

  return {
    start() {
      startedAt = clock();
      run();
    },
    stop() {
      clearTimeout(timer);
      clearImmediate(soon);
    },
    /** @returns {number} ms that we ourselves are late */
    behindMs: () => (startedAt === 0 ? 0 : Math.max(0, clock() - dueAt())),
  };
}
