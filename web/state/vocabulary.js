import { createObservable } from './observable.js';

/**
 * The types and sites known so far: what the filters offer. Any other text may still be typed.
 *
 * @typedef {{ types: string[], sites: string[] }} Words sorted
 */

const inWords = new Intl.Collator('en', { numeric: true });

/** More are no help in a list to choose from. */
const WORDS_KEPT = 1000;

export function createVocabulary() {
  const words = createObservable(/** @type {Words} */ ({ types: [], sites: [] }));
  return {
    ...words,
    /** @param {{ type: string | null, site: string | null }[]} items */
    learn(items) {
      const { types, sites } = words.get();
      const next = {
        types: join(
          types,
          items.map(({ type }) => type),
        ),
        sites: join(
          sites,
          items.map(({ site }) => site),
        ),
      };
      if (next.types.length > types.length || next.sites.length > sites.length) words.set(next);
    },
  };
}

/** @typedef {ReturnType<typeof createVocabulary>} Vocabulary */

/** @param {string[]} known @param {(string | null)[]} seen @returns {string[]} */
function join(known, seen) {
  const all = new Set(known);
  for (const word of seen) if (word && all.size < WORDS_KEPT) all.add(word);
  return [...all].sort(inWords.compare);
}
