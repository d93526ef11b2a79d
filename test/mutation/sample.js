import { hash } from './test-files.js';

/** @import { Mutant } from './mutants.js' */

/**
 * Draws without repetition. The hash of its text decides whether a mutant is drawn, so the sample stays nearly the same when other
 * mutants change, and later runs find the verdicts of earlier ones.
 *
 * @template {{ mutant: Pick<Mutant, 'file' | 'before' | 'after'> }} T
 * @param {T[]} entries
 * @param {number} count
 * @param {number} seed
 * @returns {T[]} in the order of `entries`
 */
export function sampleOf(entries, count, seed) {
  const places = new Map(
    entries.map((entry) => {
      const { file, before, after } = entry.mutant;
      return [entry, hash([String(seed), file, before, after])];
    }),
  );
  const byPlace = [...entries].sort((a, b) => (String(places.get(a)) < String(places.get(b)) ? -1 : 1));
  const drawn = new Set(byPlace.slice(0, count));
  return entries.filter((entry) => drawn.has(entry));
}
