import { median } from '../measure/rounds.js';

/** @import { OpenPage } from './browser.js' */

/**
 * @param {OpenPage} opened
 * @returns {Promise<number>} MB that the page's JavaScript holds, garbage thrown away
 */
export async function heapOf({ debuggee }) {
  await debuggee.send('HeapProfiler.collectGarbage');
  const { usedSize } = await debuggee.send('Runtime.getHeapUsage');
  return usedSize / 1e6;
}

/** @param {number[]} heap MB, in order of time @returns {number} the last third against the first: a single reading proves little */
export function heapGrowth(heap) {
  const third = Math.max(1, Math.floor(heap.length / 3));
  return median(heap.slice(-third)) / median(heap.slice(0, third));
}
