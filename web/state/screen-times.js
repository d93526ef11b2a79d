import { createObservable } from './observable.js';

/**
 * How long it takes from a commit until it is seen.
 *
 * @typedef {{ at: number, p50: number, p99: number }} ScreenTimes ms, of the last seconds; `at`: epoch ms
 */

/** Times of so many changes that were shown last make a figure. */
const TIMES_KEPT = 256;
/** Times older than this say nothing of now, in ms. */
const FRESH_MS = 10_000;
/** Figures kept for a sparkline: one a second. */
const FIGURES_KEPT = 300;

/**
 * Measures until values are on the screen. What the server says of its own part is one clock's, the rest is this browser's: two clocks are
 * never compared, so the way through the network alone is not in it.
 *
 * @param {object} parts
 * @param {(run: () => void) => void} parts.requestFrame
 * @param {(run: () => void) => void} parts.afterPaint called within a frame; runs when that is painted
 * @param {() => number} [parts.clock] ms
 */
export function createScreenTimes({ requestFrame, afterPaint, clock = () => performance.now() }) {
  const figures = createObservable(/** @type {ScreenTimes[]} */ ([]));
  /** @type {{ ms: number, shownAt: number }[]} */
  let times = [];
  /** @type {{ waitedMs: number, arrivedAt: number }[]} */
  let unseen = [];

  function noteAll() {
    const shownAt = clock();
    times.push(...unseen.map(({ waitedMs, arrivedAt }) => ({ ms: waitedMs + shownAt - arrivedAt, shownAt })));
    times = times.slice(-TIMES_KEPT);
    unseen = [];
  }

  return {
    figures,

    /** @param {number} waitedMs from the commit until it was sent @param {number} arrivedAt by `clock` */
    arrived(waitedMs, arrivedAt) {
      unseen.push({ waitedMs, arrivedAt });
      if (unseen.length === 1) requestFrame(() => afterPaint(noteAll));
    },

    /** Makes the figure of this second. @param {number} now epoch ms */
    sum(now) {
      const oldest = clock() - FRESH_MS;
      const sorted = times.flatMap(({ ms, shownAt }) => (shownAt > oldest ? [ms] : [])).sort((a, b) => a - b);
      if (sorted.length === 0) return;
      /** @param {number} share */
      const quantile = (share) =>
        Number(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]);
      const figure = { at: now, p50: quantile(0.5), p99: quantile(0.99) };
      figures.set([...figures.get().slice(1 - FIGURES_KEPT), figure]);
    },
  };
}
