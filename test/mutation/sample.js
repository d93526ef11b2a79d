import { createRandom } from '../../simulator/random.js';

/**
 * Draws without repetition; the same seed draws the same.
 *
 * @template T
 * @param {T[]} items
 * @param {number} count
 * @param {number} seed
 * @returns {T[]} in the order of `items`
 */
export function sampleOf(items, count, seed) {
  const drawn = new Set(createRandom(seed, 'mutants').shuffled(items).slice(0, count));
  return items.filter((item) => drawn.has(item));
}
