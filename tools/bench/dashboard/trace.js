/**
 * One event of Chromium's trace; times in µs.
 *
 * @typedef {{ name: string, cat: string, ph: string, pid: number, tid: number, ts: number, dur?: number, tdur?: number, args?: any }} TraceEvent
 */

/** @import { OpenPage } from './browser.js' */

const CATEGORIES = ['devtools.timeline', 'v8', 'disabled-by-default-devtools.timeline'];

/**
 * What the page's main thread did for a while.
 *
 * @param {OpenPage} opened
 * @param {() => Promise<void>} meanwhile
 * @returns {Promise<TraceEvent[]>}
 */
export async function traceOf({ debuggee }, meanwhile) {
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
