import { middleOf } from './columns.js';
import { firstAtOrAfter } from './shape.js';

/** @import { Shape } from './shape.js' */

/**
 * What a chart says at an instant.
 *
 * @typedef {{ avg: number | null, min: number, max: number, isRaw: boolean }} Reading
 */

/**
 * @param {Shape} shape
 * @param {number} ts epoch ms
 * @param {number} reachMs how far from it a sample, or the middle of a bin, may lie
 * @returns {Reading | null} of the nearest; null: nothing is near
 */
export function readingAt(shape, ts, reachMs) {
  const right = firstAtOrAfter(shape.ts, ts);
  const near = [right - 1, right].filter((at) => shape.ts[at] !== undefined);
  const distance = (/** @type {number} */ at) => Math.abs(middleOf(shape, at) - ts);
  const [at] = near.sort((a, b) => distance(a) - distance(b));
  if (at === undefined || distance(at) > Math.max(reachMs, (shape.stepMs ?? 0) / 2)) return null;
  return {
    avg: shape.avg[at] ?? null,
    min: shape.min[at] ?? 0,
    max: shape.max[at] ?? 0,
    isRaw: shape.stepMs === null,
  };
}
