import { setTimeout as sleep } from 'node:timers/promises';
import { longTasksOf, scriptOfFrames } from './frames.js';
import { heapOf } from './heap.js';
import { traceOf } from './trace.js';

/** @import { LongTask, OpenPage } from './browser.js' */

/** The page is traced all the time, in pieces of so many ms: a longer one would fill the browser's buffer. */
const TRACE_MS = 20_000;
/** Once a page has been open for so long, what it holds is what it needs. */
const SETTLE_MS = 30_000;
/** A task longer than this is felt, in ms. */
export const LONG_MS = 50;

/**
 * Stays on an open dashboard for a while.
 *
 * @param {OpenPage} opened
 * @param {number} forMs
 * @returns {Promise<Watched>}
 */
export async function watchDashboard(opened, forMs) {
  const end = performance.now() + forMs;
  await sleep(Math.min(SETTLE_MS, forMs / 4));
  const frames = [];
  /** @type {number[]} */
  const heap = [await heapOf(opened)];
  const shown = [];
  /** @type {number[]} */
  const busy = [];
  while (performance.now() < end || frames.length === 0) {
    const events = await traceOf(opened, () => sleep(Math.min(TRACE_MS, forMs / 4)));
    frames.push(...scriptOfFrames(events));
    busy.push(...longTasksOf(events, LONG_MS));
    heap.push(await heapOf(opened));
    shown.push(await commitToScreen(opened));
  }
  const { longTasks } = await opened.seen();
  return { frames: distribution(frames), busy, heap, longTasks, shown };
}

/**
 * @typedef {object} Watched
 * @property {Record<'ms' | 'cpuMs', { p50: number, p95: number, most: number, count: number }>} frames script time of each
 * @property {number[]} busy ms that tasks had a processor for, of those that had it for more than `LONG_MS`
 * @property {number[]} heap MB, the first once the page had settled
 * @property {LongTask[]} longTasks by the clock: loading is in it, and what the machine gave to others meanwhile
 * @property {Array<{ p50: number, p99: number }>} shown ms from commit to screen, as the page says
 */

/** @param {{ ms: number, cpuMs: number }[]} frames @returns {Watched['frames']} */
function distribution(frames) {
  /** @param {'ms' | 'cpuMs'} key */
  const of = (key) => {
    const sorted = frames.map((frame) => frame[key]).sort((a, b) => a - b);
    return {
      p50: quantile(sorted, 0.5),
      p95: quantile(sorted, 0.95),
      most: Number(sorted.at(-1)),
      count: sorted.length,
    };
  };
  return { ms: of('ms'), cpuMs: of('cpuMs') };
}

/** @param {number[]} sorted @param {number} share */
const quantile = (sorted, share) =>
  Number(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]);

/** @param {OpenPage} opened */
async function commitToScreen({ page }) {
  const figure = page.locator('.figure', { hasText: 'Commit to screen' });
  const [p50, p99] = await Promise.all(
    ['.figure-value', '.figure-second-value'].map(async (which) => {
      const text = (await figure.locator(which).textContent()) ?? '';
      return Number(text.replaceAll(',', ''));
    }),
  );
  return { p50: Number(p50), p99: Number(p99) };
}
