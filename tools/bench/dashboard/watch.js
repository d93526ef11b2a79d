import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { findTools } from '../../../infra/bootstrap/index.js';
import { median } from '../measure/rounds.js';

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const LOOK_MS = 50;
const VIEWPORT = { width: 1360, height: 900 };

/** A script that runs before those of the page. It collects long tasks, and the time when the first cells of the wall were visible. */
const WATCH = `(() => {
  const seen = { longTasks: [], firstCellsMs: null };
  window.benchSeen = seen;
  new PerformanceObserver((list) => {
    for (const { startTime, duration, attribution } of list.getEntries()) {
      seen.longTasks.push({ at: startTime, ms: duration, of: attribution[0]?.containerType ?? '' });
    }
  }).observe({ type: 'longtask', buffered: true });
  const look = () => {
    // Headings are drawn with the cells. The screen shows a frame when the next one begins.
    if (document.querySelector('.wall-site')) requestAnimationFrame(() => { seen.firstCellsMs = performance.now(); });
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()`;

/** Starts the Chromium of this machine, headless. */
export async function startChromium() {
  const { chromium: program } = await findTools(['chromium']);
  const browser = await chromium.launch({ executablePath: program?.path, args: ARGUMENTS });
  return {
    /** A page without memory of those before it. @param {string} url */
    async open(url) {
      const context = await browser.newContext({ viewport: VIEWPORT });
      const page = await context.newPage();
      await page.addInitScript({ content: WATCH });
      const debuggee = await context.newCDPSession(page);
      await page.goto(url);
      /** @returns {Promise<Seen>} */
      const seen = () => page.evaluate('window.benchSeen');
      // The policy of the page forbids Playwright's own wait, which runs inside the page.
      while ((await seen()).firstCellsMs === null) await sleep(LOOK_MS);
      return {
        page,
        debuggee,
        seen,
        close: () => context.close(),
      };
    },
    stop: () => browser.close(),
  };
}

/** @typedef {{ at: number, ms: number, of: string }} LongTask */
/** @typedef {{ firstCellsMs: number | null, longTasks: LongTask[] }} Seen ms since the navigation began */
/** @typedef {Awaited<ReturnType<Awaited<ReturnType<typeof startChromium>>['open']>>} OpenPage */

/**
 * @param {OpenPage} opened
 * @returns {Promise<number>} MB that the page's JavaScript holds, garbage thrown away
 */
async function heapOf({ debuggee }) {
  await debuggee.send('HeapProfiler.collectGarbage');
  const { usedSize } = await debuggee.send('Runtime.getHeapUsage');
  return usedSize / 1e6;
}

/** @param {number[]} heap MB, in order of time @returns {number} the last third against the first: a single reading proves little */
export function heapGrowth(heap) {
  const third = Math.max(1, Math.floor(heap.length / 3));
  return median(heap.slice(-third)) / median(heap.slice(0, third));
}

/** Pause between two readings of the heap, in ms. */
const EVERY_MS = 20_000;
/** After this time with the page open, the heap holds what the page needs, in ms. */
const SETTLE_MS = 30_000;

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
  const heap = [await heapOf(opened)];
  const shown = [];
  do {
    await sleep(Math.min(EVERY_MS, forMs / 4));
    heap.push(await heapOf(opened));
    shown.push(await commitToScreen(opened));
  } while (performance.now() < end);
  return { heap, longTasks: (await opened.seen()).longTasks, shown };
}

/**
 * @typedef {object} Watched
 * @property {number[]} heap MB, the first once the page had settled
 * @property {LongTask[]} longTasks tasks over 50 ms by the clock, loading and waits for a processor included
 * @property {Array<{ p50: number, p99: number }>} shown ms from commit to screen, as the page measures it
 */

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
