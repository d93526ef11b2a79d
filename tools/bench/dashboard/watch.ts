import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { MillraceError } from '../../../common/errors.js';
import { findTools } from '../../../infra/bootstrap/index.js';
import { median } from '../measure/rounds.js';
import { weighViews } from './views.js';

/** @import { Views } from './views.js' */

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const LOOK_MS = 50;

/** A page must show cells within this time, in ms. */
const SHOWN_MS = 120_000;

const VIEWPORT = { width: 1360, height: 900 };

/** A script that runs before the scripts of the page. It records long tasks, and the time when the first cells of the wall were visible. */
const WATCH = `(() => {
  const seen = { longTasks: [], firstCellsMs: null };
  window.benchSeen = seen;
  new PerformanceObserver((list) => {
    for (const { startTime, duration, attribution } of list.getEntries()) {
      seen.longTasks.push({ at: startTime, ms: duration, of: attribution[0]?.containerType ?? '' });
    }
  }).observe({ type: 'longtask', buffered: true });
  const look = () => {
    // Headings are drawn together with the cells, and a large fleet has tiles instead. A frame is on the screen when the next
    // frame begins.
    if (document.querySelector('.wall-site, .group-wall > li')) requestAnimationFrame(() => { seen.firstCellsMs = performance.now(); });
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()`;

/** The connection of a phone with poor reception: throughput in bytes/s, and latency of each answer in ms. */
const SLOW_NETWORK = { offline: false, latency: 300, downloadThroughput: 50_000, uploadThroughput: 50_000 };

/** An expression that the page evaluates: ms from the navigation to the first paint; null: nothing is painted yet. */
const FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null";

/** Starts the Chromium of this machine, headless. The API must already serve a built dashboard. */
export async function startChromium() {
  const { chromium: program } = await findTools(['chromium']);
  const browser = await chromium.launch({ executablePath: program?.path, args: ARGUMENTS });
  return {
    /** Opens a page with a new profile, so that no earlier page has filled its cache. @param {string} url */
    async open(url) {
      const context = await browser.newContext({ viewport: VIEWPORT });
      const page = await context.newPage();
      await page.addInitScript({ content: WATCH });
      const debuggee = await context.newCDPSession(page);
      await page.goto(url);
      /** @returns {Promise<Seen>} */
      const seen = () => page.evaluate('window.benchSeen');
      await untilShown(url, async () => (await seen()).firstCellsMs);
      return {
        page,
        debuggee,
        seen,
        close: () => context.close(),
      };
    },
    /**
     * @param {string} url
     * @returns {Promise<number>} ms from the navigation to the first text or picture, for a new user with a slow network
     */
    async firstPaint(url) {
      const context = await browser.newContext({ viewport: VIEWPORT });
      try {
        const page = await context.newPage();
        const debuggee = await context.newCDPSession(page);
        await debuggee.send('Network.enable');
        await debuggee.send('Network.emulateNetworkConditions', SLOW_NETWORK);
        await page.goto(url, { waitUntil: 'commit' });
        return await untilShown(url, () => page.evaluate(FIRST_PAINT));
      } finally {
        await context.close();
      }
    },
    /** @param {string} url @returns {Promise<Views>} requests and bytes of the first view of a new user, and of its reload */
    async weigh(url) {
      const context = await browser.newContext({ viewport: VIEWPORT });
      try {
        const page = await context.newPage();
        await page.addInitScript({ content: WATCH });
        // The debugger of a page does not see the requests of a shared worker. Without one, the page opens the stream itself.
        await page.addInitScript({ content: 'delete globalThis.SharedWorker' });
        return await weighViews({ page, debuggee: await context.newCDPSession(page) }, url);
      } finally {
        await context.close();
      }
    },
    stop: () => browser.close(),
  };
}

/**
 * Polls a page until it shows something. Playwright's own wait runs inside the page, and the security policy of the page forbids
 * that.
 *
 * @template T
 * @param {string} url
 * @param {() => Promise<T | null>} read returns null while nothing is shown
 * @returns {Promise<T>}
 * @throws {MillraceError} `failed`: the page shows nothing within the time limit
 */
async function untilShown(url, read) {
  for (const deadline = performance.now() + SHOWN_MS; performance.now() < deadline; await sleep(LOOK_MS)) {
    const shown = await read();
    if (shown !== null) return shown;
  }
  throw new MillraceError('failed', `${url} showed nothing within ${SHOWN_MS / 1000} s.`);
}

/** @typedef {{ at: number, ms: number, of: string }} LongTask */
/** Times in ms since the navigation began. @typedef {{ firstCellsMs: number | null, longTasks: LongTask[] }} Seen */
/** @typedef {Awaited<ReturnType<Awaited<ReturnType<typeof startChromium>>['open']>>} OpenPage */

/**
 * @param {OpenPage} opened
 * @returns {Promise<number>} MB that the JavaScript of the page keeps after a garbage collection
 */
async function heapOf({ debuggee }) {
  await debuggee.send('HeapProfiler.collectGarbage');
  const { usedSize } = await debuggee.send('Runtime.getHeapUsage');
  return usedSize / 1e6;
}

/**
 * @param {number[]} heap MB, in order of time
 * @returns {number} ratio of the last third to the first third, because single readings vary
 */
export function heapGrowth(heap) {
  const third = Math.max(1, Math.floor(heap.length / 3));
  return median(heap.slice(-third)) / median(heap.slice(0, third));
}

/** Maximum length of a trace, in ms. A longer trace would fill the buffer of the browser. */
const TRACE_MS = 20_000;
/** Minimum length of a trace, in ms. The page draws once a second, so a shorter trace may have no frame. */
const LEAST_TRACE_MS = 5000;
/** Time until the first heap reading, in ms. Until then the heap still grows while the page loads. */
const SETTLE_MS = 30_000;
/** Length of a task from which people notice a delay, in ms. */
export const LONG_MS = 50;

/**
 * Measures frames, long tasks and memory of an open dashboard.
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
  const traceMs = Math.max(LEAST_TRACE_MS, Math.min(TRACE_MS, forMs / 4));
  do {
    const events = await traceOf(opened, () => sleep(traceMs));
    frames.push(...scriptOfFrames(events));
    busy.push(...longTasksOf(events, LONG_MS));
    heap.push(await heapOf(opened));
    shown.push(await commitToScreen(opened));
  } while (performance.now() < end);
  const { longTasks } = await opened.seen();
  return { frames: distribution(frames), busy, heap, longTasks, shown };
}

/**
 * @typedef {object} Watched
 * @property {Record<'ms' | 'cpuMs', { p50: number, p95: number, most: number, count: number }>} frames script time per frame, as
 *   wall time (`ms`) and as CPU time (`cpuMs`)
 * @property {number[]} busy CPU time of each task that took more CPU time than `LONG_MS`, in ms
 * @property {number[]} heap MB; the first reading is made once the page has settled
 * @property {LongTask[]} longTasks tasks over 50 ms of wall time; they include loading and waits for a processor
 * @property {Array<{ p50: number, p99: number }>} shown ms from the commit of a value until the screen shows it, as the page
 *   measures it
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

/**
 * An event of Chromium's trace. Times are in µs.
 *
 * @typedef {{ name: string, cat: string, ph: string, pid: number, tid: number, ts: number, dur?: number, tdur?: number, args?: any }} TraceEvent
 */

const CATEGORIES = ['devtools.timeline', 'v8', 'disabled-by-default-devtools.timeline'];

/**
 * Returns the trace events of the page's main thread while work runs.
 *
 * @param {OpenPage} opened
 * @param {() => Promise<void>} meanwhile the work
 * @returns {Promise<TraceEvent[]>}
 */
async function traceOf({ debuggee }, meanwhile) {
  /** @type {TraceEvent[]} */
  const events = [];
  const collect = (/** @type {{ value: any[] }} */ { value }) => void events.push(...value);
  debuggee.on('Tracing.dataCollected', collect);
  await debuggee.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: CATEGORIES, excludedCategories: ['*'] },
  });
  await meanwhile();
  const complete = new Promise((resolve) => debuggee.once('Tracing.tracingComplete', resolve));
  await debuggee.send('Tracing.end');
  await complete;
  debuggee.off('Tracing.dataCollected', collect);
  return events;
}

/** The trace events of scripts and of the garbage collector. */
const SCRIPT = new Set([
  'FunctionCall',
  'EvaluateScript',
  'RunMicrotasks',
  'v8.callFunction',
  'v8.evaluateModule',
  'MinorGC',
  'MajorGC',
  'V8.GCIncrementalMarking',
]);

/** The event at which a frame is passed on for drawing and ends. */
const FRAME_END = 'Commit';

/**
 * Returns the script time of each frame. All script time since the previous frame counts, including work for the stream between
 * two frames.
 *
 * @param {TraceEvent[]} events
 * @returns {{ ms: number, cpuMs: number }[]} `ms`: wall time; `cpuMs`: CPU time
 */
export function scriptOfFrames(events) {
  const main = mainThread(events);
  const own = events
    .filter(({ ph, pid, tid }) => ph === 'X' && `${pid}/${tid}` === main)
    .sort((a, b) => a.ts - b.ts || (b.dur ?? 0) - (a.dur ?? 0));
  const frames = [];
  let frame = { ms: 0, cpuMs: 0 };
  let end = 0;
  for (const { name, ts, dur = 0, tdur = 0 } of own) {
    if (name === FRAME_END) {
      frames.push(frame);
      frame = { ms: 0, cpuMs: 0 };
    }
    // A nested event is part of the outer event, which has been counted.
    if (!SCRIPT.has(name) || ts < end) continue;
    end = ts + dur;
    frame.ms += dur / 1000;
    frame.cpuMs += tdur / 1000;
  }
  // The first frame began before the trace, so it is incomplete.
  return frames.slice(1);
}

/**
 * @param {TraceEvent[]} events
 * @param {number} overMs
 * @returns {number[]} CPU time of the page's tasks that took more than `overMs`, in ms
 */
export function longTasksOf(events, overMs) {
  const main = mainThread(events);
  return events.flatMap(({ name, pid, tid, tdur = 0 }) =>
    name === 'RunTask' && `${pid}/${tid}` === main && tdur > overMs * 1000 ? [tdur / 1000] : [],
  );
}

/** @param {TraceEvent[]} events @returns {string} the main thread of the page: the thread that calls most script functions */
function mainThread(events) {
  /** @type {Map<string, number>} */
  const calls = new Map();
  for (const { name, pid, tid } of events) {
    if (name === 'FunctionCall') calls.set(`${pid}/${tid}`, (calls.get(`${pid}/${tid}`) ?? 0) + 1);
  }
  return [...calls].reduce((most, one) => (one[1] > most[1] ? one : most), ['', 0])[0];
}
