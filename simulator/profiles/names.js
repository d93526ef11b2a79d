/**
 * So many sensors of what there is: where there are more sensors than kinds, the second round is called `pulse-2` and so on.
 *
 * @param {import('./index.js').NamedSignal[]} kinds
 * @param {number} count
 * @returns {import('./index.js').NamedSignal[]} with different names
 */
export const inRounds = (kinds, count) =>
  Array.from({ length: count }, (_, index) => {
    const { name, signal } = /** @type {import('./index.js').NamedSignal} */ (kinds[index % kinds.length]);
    const round = Math.floor(index / kinds.length);
    return { name: round === 0 ? name : `${name}-${round + 1}`, signal };
  });
