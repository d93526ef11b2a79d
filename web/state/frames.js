import { createObservable } from './observable.js';

/**
 * Collects changes and notifies listeners once before the next frame: a sensor that changes a hundred times
 * between two frames is drawn once.
 *
 * @param {(run: () => void) => void} requestFrame
 */
export function createChangeQueue(requestFrame) {
  /** @type {Set<string>} */
  let waiting = new Set();
  /** @type {Map<string, Set<() => void>>} */
  const listeners = new Map();

  function flush() {
    const keys = [...waiting];
    waiting = new Set();
    for (const key of keys) {
      for (const listener of [...(listeners.get(key) ?? [])]) listener();
    }
  }

  return {
    /** @param {string} key */
    notify(key) {
      if (waiting.size === 0) requestFrame(flush);
      waiting.add(key);
    },
    /** @param {string} key @param {() => void} listener @returns {() => void} ends it */
    subscribe(key, listener) {
      const own = listeners.get(key) ?? new Set();
      listeners.set(key, own.add(listener));
      return () => {
        own.delete(listener);
        if (own.size === 0 && listeners.get(key) === own) listeners.delete(key);
      };
    },
  };
}

/** Script time of one frame that taking in may use, in ms; what is left waits for the next frame. */
const BUDGET_MS = 2;
/** Texts that may wait; who is further behind takes in all at once. */
const MOST_WAITING = 200;

/**
 * Takes texts in as frames allow: a snapshot of ten thousand sensors comes in ten events at once, and must not hold up the page. Where no
 * frames are drawn, in a tab behind others, each is taken in as it comes.
 *
 * @param {object} deps
 * @param {(text: string, arrivedAt: number) => void} deps.take `arrivedAt` by `clock`
 * @param {(run: () => void) => void} deps.requestFrame
 * @param {() => boolean} deps.isHidden
 * @param {() => number} [deps.clock] ms
 */
export function createInputQueue({ take, requestFrame, isHidden, clock = () => performance.now() }) {
  /** @type {{ text: string, at: number }[]} */
  let waiting = [];
  let requested = false;
  /** Taken in since the last frame: the first text of a frame need not wait. */
  let spent = false;

  function takeSome() {
    requested = false;
    spent = false;
    const began = clock();
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      take(next.text, next.at);
      if (clock() - began >= BUDGET_MS) break;
    }
    if (waiting.length > 0) request();
  }

  function request() {
    if (requested) return;
    requested = true;
    requestFrame(takeSome);
  }

  function takeAll() {
    const all = waiting;
    waiting = [];
    for (const { text, at } of all) take(text, at);
  }

  return {
    /** @param {string} text */
    push(text) {
      waiting.push({ text, at: clock() });
      if (isHidden() || waiting.length > MOST_WAITING) return takeAll();
      if (!spent && waiting.length === 1) {
        takeAll();
        spent = true;
      }
      request();
    },
  };
}

/**
 * How long it takes from a commit until it is seen.
 *
 * @typedef {{ at: number, p50: number, p99: number }} ScreenTimes ms, of the last seconds; `at`: epoch ms
 */

/** Times of so many changes that were shown last make a figure. */
const TIMES_KEPT = 256;
/** Older times are not used, in ms. */
const FRESH_MS = 10_000;
/** Figures kept for a sparkline: one a second. */
const FIGURES_KEPT = 300;

/**
 * Measures the time until values are on the screen. The server measures its own part, the browser the rest. Two clocks are never
 * compared, so the time in the network is missing.
 *
 * @param {object} deps
 * @param {(run: () => void) => void} deps.requestFrame
 * @param {(run: () => void) => void} deps.afterPaint called within a frame; runs when that is painted
 * @param {() => number} [deps.clock] ms
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
