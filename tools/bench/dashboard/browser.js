import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { findTools } from '../../../infra/bootstrap/index.js';

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
    // Headings are drawn when the cells are; what is drawn in one frame is on the screen in the next.
    if (document.querySelector('.wall-site')) requestAnimationFrame(() => { seen.firstCellsMs = performance.now(); });
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()`;

/** The machine's own Chromium, headless, as somebody who looks at the dashboard has it. */
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
      // The page's policy forbids what waits inside of it.
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
