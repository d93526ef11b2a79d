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
 */
export function createPacer({ perSecond, onDue }) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  /** @type {NodeJS.Immediate | undefined} */
  let soon;
  let startedAt = 0;
  let next = 0;

  const dueAt = () => startedAt + (next * 1000) / perSecond;

  function run() {
    const turnEnds = performance.now() + TURN_MS;
    let now = performance.now();
    for (; dueAt() <= now && now < turnEnds; now = performance.now()) {
      onDue(next, dueAt());
      next += 1;
    }
    if (dueAt() <= now) soon = setImmediate(run);
    else timer = setTimeout(run, dueAt() - now);
  }

  return {
    start() {
      startedAt = performance.now();
      run();
    },
    stop() {
      clearTimeout(timer);
      clearImmediate(soon);
    },
    /** @returns {number} ms that we ourselves are late */
    behindMs: () => (startedAt === 0 ? 0 : Math.max(0, performance.now() - dueAt())),
  };
}
