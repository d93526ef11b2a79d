import { toProblem } from '../api/problem.js';
import { areFew } from './reader.js';
import { coarsen, join, within } from './shape.js';
import { lengthOf } from './window.js';

/** @import { Problem } from '../api/problem.js' */
/** @import { Reader } from './reader.js' */
/** @import { Shape } from './shape.js' */
/** @import { Window } from './window.js' */

/** Between two looks at what is new. Samples are few; new bins come no more often than a pixel's worth of time. */
const POLL_MS = { samples: 250, min: 1_000, max: 10_000 };
/** Everything is read again after this time, which includes late samples. */
const RELOAD_MS = 60_000;
/** Temporary problems are retried after this time. */
const RETRY_MS = 5_000;
const PIXELS = 1000;
/** Bins that are read once more with those that are new: fewer of them might come in another width. */
const BINS_AGAIN = 3;

/**
 * @typedef {object} FeedOptions
 * @property {Reader} reader
 * @property {Window} window
 * @property {number} points bins at most
 * @property {() => number} end epoch ms at which a live window ends by now
 * @property {((listener: () => void) => () => void) | null} subscribe calls the listener when there is something new; null: never
 * @property {(shape: Shape) => void} onShape
 * @property {(problem: Problem) => void} onProblem
 * @property {() => void} onSettled everything that exists was passed to `onShape`
 */

/**
 * Reads a window: bins first, then samples where there are few of them; and goes on with it as long as it is live.
 *
 * @param {FeedOptions} options
 * @returns {() => void} ends it; what is under way is cancelled
 */
export function openFeed({ reader, window, points, end, subscribe, onShape, onProblem, onSettled }) {
  const abort = new AbortController();
  const { signal } = abort;
  const length = lengthOf(window);
  /** @type {Shape | null} */
  let shape = null;
  let readAt = 0;
  let news = false;
  let busy = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  function pollMs() {
    if (shape?.stepMs === null) return POLL_MS.samples;
    return Math.min(Math.max(length / PIXELS, POLL_MS.min), POLL_MS.max);
  }

  /** @param {Shape} next */
  function publish(next) {
    if (signal.aborted) return;
    shape = next;
    onShape(next);
  }

  async function readAll() {
    const to = window.live ? end() + 1 : window.to;
    const range = { from: to - length, to };
    readAt = Date.now();
    const bins = await reader.bins(range, points, signal);
    const isRaw = areFew(bins);
    // Samples in place of samples need no coarser picture on the way.
    if (!isRaw || shape?.stepMs !== null) publish(bins);
    if (isRaw) publish(await reader.samples(range, signal));
  }

  /** @param {Shape} held */
  async function readOn(held) {
    const to = end() + 1;
    const kept = within(held, { from: to - length, to });
    const { stepMs } = held;
    const last = held.ts.at(-1) ?? kept.from;
    if (stepMs === null) {
      publish(join(kept, await reader.samples({ from: last, to }, signal)));
      return;
    }
    const from = last - BINS_AGAIN * stepMs;
    const bins = await reader.bins({ from, to }, Math.ceil(to / stepMs) - Math.floor(from / stepMs), signal);
    publish(join(kept, coarsen(bins, stepMs)));
  }

  async function poll() {
    busy = true;
    news = false;
    clearTimeout(timer);
    try {
      const grown = shape?.stepMs === null && shape.ts.length > 1 && !areFew(shape);
      const isOld = Date.now() - readAt > Math.max(RELOAD_MS, length / PIXELS);
      if (!shape || grown || isOld) await readAll();
      else await readOn(shape);
      if (!signal.aborted) onSettled();
    } catch (error) {
      if (!signal.aborted) fail(error);
    }
    busy = false;
    if (news && !signal.aborted) timer ??= setTimeout(again, pollMs());
  }

  /** @param {unknown} error */
  function fail(error) {
    const problem = toProblem(error);
    onProblem(problem);
    readAt = 0;
    if (problem.passes) timer = setTimeout(again, RETRY_MS);
  }

  function again() {
    timer = undefined;
    if (!busy) void poll();
  }

  const unsubscribe = window.live
    ? subscribe?.(() => {
        news = true;
        if (!busy) timer ??= setTimeout(again, pollMs());
      })
    : null;
  void poll();
  return () => {
    unsubscribe?.();
    clearTimeout(timer);
    abort.abort();
  };
}
