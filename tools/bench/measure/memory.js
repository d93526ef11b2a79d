import { setTimeout as sleep } from 'node:timers/promises';
import { residentBytes } from './processes.js';

/**
 * The memory of a process over time.
 *
 * @param {number} pid
 * @param {number} [everyMs]
 */
export function watchMemory(pid, everyMs = 1000) {
  /** @type {MemoryPoint[]} */
  const points = [];
  const began = performance.now();
  let last = Number.NEGATIVE_INFINITY;
  return {
    points,
    /** Notes it, unless that was done a moment ago. */
    async look() {
      const now = performance.now();
      if (now - last < everyMs) return;
      last = now;
      points.push({ seconds: (now - began) / 1000, mb: (await residentBytes(pid)) / 1e6 });
    },
  };
}

/** @typedef {{ seconds: number, mb: number }} MemoryPoint */

/**
 * @param {MemoryPoint[]} points
 * @returns {number} MB/h by least squares; NaN of fewer than two moments
 */
export function slopeOf(points) {
  const seconds = points.reduce((sum, point) => sum + point.seconds, 0) / points.length;
  const mb = points.reduce((sum, point) => sum + point.mb, 0) / points.length;
  let together = 0;
  let alone = 0;
  for (const point of points) {
    together += (point.seconds - seconds) * (point.mb - mb);
    alone += (point.seconds - seconds) ** 2;
  }
  return alone === 0 ? Number.NaN : (together / alone) * 3600;
}

/** While something is at work, its memory is looked at this often, in ms. */
const WATCH_EVERY_MS = 100;

/**
 * @template T
 * @param {number} pid
 * @param {Promise<T>} work
 * @returns {Promise<{ value: T, mb: number }>} what the work gave, and the most memory that the process had meanwhile
 */
export async function withPeakMemory(pid, work) {
  const { points, look } = watchMemory(pid, 0);
  let over = false;
  const done = work.finally(() => {
    over = true;
  });
  do {
    await look();
    await Promise.race([sleep(WATCH_EVERY_MS), done]);
  } while (!over);
  return { value: await done, mb: Math.max(...points.map(({ mb }) => mb)) };
}
