/** @import { TraceEvent } from './trace.js' */

/** What the main thread does for scripts: ours, and the collector that tidies up behind them. */
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

/** A frame ends as it is handed over to be drawn. */
const FRAME_END = 'Commit';

/**
 * Script time of each frame: all since the frame before, so that what comes by the stream between two frames is counted, too.
 *
 * @param {TraceEvent[]} events
 * @returns {{ ms: number, cpuMs: number }[]} `cpuMs`: of these, what the thread had a processor for
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
    // What lies within another is counted with it.
    if (!SCRIPT.has(name) || ts < end) continue;
    end = ts + dur;
    frame.ms += dur / 1000;
    frame.cpuMs += tdur / 1000;
  }
  // The first began before the trace did.
  return frames.slice(1);
}

/**
 * @param {TraceEvent[]} events
 * @param {number} overMs
 * @returns {number[]} ms of processor time of the page's tasks that took more than that
 */
export function longTasksOf(events, overMs) {
  const main = mainThread(events);
  return events.flatMap(({ name, pid, tid, tdur = 0 }) =>
    name === 'RunTask' && `${pid}/${tid}` === main && tdur > overMs * 1000 ? [tdur / 1000] : [],
  );
}

/** @param {TraceEvent[]} events @returns {string} of the page: the thread that calls most functions of scripts */
function mainThread(events) {
  /** @type {Map<string, number>} */
  const calls = new Map();
  for (const { name, pid, tid } of events) {
    if (name === 'FunctionCall') calls.set(`${pid}/${tid}`, (calls.get(`${pid}/${tid}`) ?? 0) + 1);
  }
  return [...calls].reduce((most, one) => (one[1] > most[1] ? one : most), ['', 0])[0];
}
