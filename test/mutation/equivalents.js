/**
 * Mutants that no test can notice, since the program with them does the same, each with the reason. An entry names a mutant by its file
 * and by the text of its lines without and with the mistake, so that it survives when lines move. `npm run test:mutation` prints
 * survivors in the same form.
 *
 * @typedef {{ file: string, before: string, after: string, reason: string }} Equivalent
 */

/** @type {Equivalent[]} */
export const EQUIVALENTS = [];

/**
 * @param {import('./mutants.js').Mutant[]} mutants
 * @param {Equivalent[]} [equivalents]
 * @returns {{ reasonOf: (mutant: import('./mutants.js').Mutant) => string | undefined, stale: Equivalent[] }} `stale`: entries about
 *   these files that name no mutant any more
 */
export function matchEquivalents(mutants, equivalents = EQUIVALENTS) {
  const keyOf = (/** @type {{ file: string, before: string, after: string }} */ { file, before, after }) =>
    JSON.stringify([file, before, after]);
  const reasons = new Map(equivalents.map((entry) => [keyOf(entry), entry.reason]));
  const files = new Set(mutants.map(({ file }) => file));
  const keys = new Set(mutants.map(keyOf));
  return {
    reasonOf: (mutant) => reasons.get(keyOf(mutant)),
    stale: equivalents.filter((entry) => files.has(entry.file) && !keys.has(keyOf(entry))),
  };
}
