import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { MillraceError } from '../../../common/errors.ts';
import { findTools } from '../../../infra/bootstrap/index.ts';
import { median } from '../measure/rounds.ts';
import { type Views, weighViews } from './views.ts';

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const LOOK_MS = 50;

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

/** A phone with poor reception: throughput in bytes/s, and latency of each answer in ms. */
const SLOW_NETWORK = { offline: false, latency: 300, downloadThroughput: 50_000, uploadThroughput: 50_000 };

/** The page evaluates it: ms from the navigation; null: nothing is painted yet. */
const FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null";

/** Headless. The API must already serve a built dashboard. */
export async function startChromium() {
  const { chromium: program } = await findTools(['chromium']);
  const browser = await chromium.launch({ executablePath: program?.path, args: ARGUMENTS });
  return {
    /** A new profile, so that no earlier page has filled its cache. */
    async open(url: string) {
      const context = await browser.newContext({ viewport: VIEWPORT });
      const page = await context.newPage();
      await page.addInitScript({ content: WATCH });
      const debuggee = await context.newCDPSession(page);
      await page.goto(url);
      const seen = (): Promise<Seen> => page.evaluate('window.benchSeen');
      await untilShown(url, async () => (await seen()).firstCellsMs);
      return {
        page,
        debuggee,
        seen,
        close: () => context.close(),
      };
    },
    /** Ms, for a new user with a slow network. */
    async firstPaint(url: string): Promise<number> {
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
    async weigh(url: string): Promise<Views> {
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
 * Playwright's own wait runs inside the page, and the security policy of the page forbids that.
 * @param read returns null while nothing is shown
 * @throws {MillraceError} `failed`: the page shows nothing within the time limit
 */
async function untilShown<T>(url: string, read: () => Promise<T | null>): Promise<T> {
  for (const deadline = performance.now() + SHOWN_MS; performance.now() < deadline; await sleep(LOOK_MS)) {
    const shown = await read();
    if (shown !== null) return shown;
  }
  throw new MillraceError('failed', `${url} showed nothing within ${SHOWN_MS / 1000} s.`);
}

type LongTask = { at: number; ms: number; of: string };
/** Ms since the navigation began. */
type Seen = { firstCellsMs: number | null; longTasks: LongTask[] };
type OpenPage = Awaited<ReturnType<Awaited<ReturnType<typeof startChromium>>['open']>>;

/** MB after a garbage collection. */
async function heapOf({ debuggee }: OpenPage): Promise<number> {
  await debuggee.send('HeapProfiler.collectGarbage');
  const { usedSize } = await debuggee.send('Runtime.getHeapUsage');
  return usedSize / 1e6;
}

/** Ratio of the last third to the first third, because single readings vary. */
export function heapGrowth(heap: number[]): number {
  const third = Math.max(1, Math.floor(heap.length / 3));
  return median(heap.slice(-third)) / median(heap.slice(0, third));
}

/** A longer trace would fill the buffer of the browser. */
const TRACE_MS = 20_000;
/** The page draws once a second, so a shorter trace may have no frame. */
const LEAST_TRACE_MS = 5000;
/** Until then the heap still grows while the page loads. */
const SETTLE_MS = 30_000;
/** People notice a delay from this length on. */
export const LONG_MS = 50;

export async function watchDashboard(opened: OpenPage, forMs: number): Promise<Watched> {
  const end = performance.now() + forMs;
  await sleep(Math.min(SETTLE_MS, forMs / 4));
  const frames = [];
  const heap: number[] = [await heapOf(opened)];
  const shown = [];
  const busy: number[] = [];
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

export interface Watched {
  /** script time per frame, as wall time (`ms`) and as CPU time (`cpuMs`) */
  frames: Record<'ms' | 'cpuMs', { p50: number; p95: number; most: number; count: number }>;
  /** CPU time of each task that took more CPU time than `LONG_MS`, in ms */
  busy: number[];
  /** MB; the first reading is made once the page has settled */
  heap: number[];
  /** tasks over 50 ms of wall time; they include loading and waits for a processor */
  longTasks: LongTask[];
  /** ms from the commit of a value until the screen shows it, as the page measures it */
  shown: Array<{ p50: number; p99: number }>;
}

function distribution(frames: { ms: number; cpuMs: number }[]): Watched['frames'] {
  const of = (key: 'ms' | 'cpuMs') => {
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

const quantile = (sorted: number[], share: number) =>
  Number(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]);

async function commitToScreen({ page }: OpenPage) {
  const figure = page.locator('.figure', { hasText: 'Commit to screen' });
  const [p50, p99] = await Promise.all(
    ['.figure-value', '.figure-second-value'].map(async (which) => {
      const text = (await figure.locator(which).textContent()) ?? '';
      return Number(text.replaceAll(',', ''));
    }),
  );
  return { p50: Number(p50), p99: Number(p99) };
}

/** Times are in µs. */
type TraceEvent = {
  name: string;
  cat: string;
  ph: string;
  pid: number;
  tid: number;
  ts: number;
  dur?: number;
  tdur?: number;
};

const CATEGORIES = ['devtools.timeline', 'v8', 'disabled-by-default-devtools.timeline'];

async function traceOf({ debuggee }: OpenPage, meanwhile: () => Promise<void>): Promise<TraceEvent[]> {
  const events: TraceEvent[] = [];
  const collect = ({ value }: { value: object[] }) => void events.push(...(value as TraceEvent[]));
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

/** A frame is passed on for drawing and ends. */
const FRAME_END = 'Commit';

/**
 * All script time since the previous frame counts, including work for the stream between two frames.
 * @returns `ms`: wall time; `cpuMs`: CPU time
 */
export function scriptOfFrames(events: TraceEvent[]): { ms: number; cpuMs: number }[] {
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

/** CPU time in ms. */
export function longTasksOf(events: TraceEvent[], overMs: number): number[] {
  const main = mainThread(events);
  return events.flatMap(({ name, pid, tid, tdur = 0 }) =>
    name === 'RunTask' && `${pid}/${tid}` === main && tdur > overMs * 1000 ? [tdur / 1000] : [],
  );
}

/** The thread that calls most script functions. */
function mainThread(events: TraceEvent[]): string {
  const calls: Map<string, number> = new Map();
  for (const { name, pid, tid } of events) {
    if (name === 'FunctionCall') calls.set(`${pid}/${tid}`, (calls.get(`${pid}/${tid}`) ?? 0) + 1);
  }
  return [...calls].reduce((most, one) => (one[1] > most[1] ? one : most), ['', 0])[0];
}
