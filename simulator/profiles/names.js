/** @import { NamedSignal } from './index.js' */

/**
 * So many sensors of what there is: where there are more sensors than kinds, the second round is called `pulse-2` and so on.
 *
 * @param {NamedSignal[]} kinds
 * @param {number} count
 * @returns {NamedSignal[]} with different names
 */
export const inRounds = (kinds, count) =>
  Array.from({ length: count }, (_, index) => {
    const { name, signal } = /** @type {NamedSignal} */ (kinds[index % kinds.length]);
    const round = Math.floor(index / kinds.length);
    return { name: round === 0 ? name : `${name}-${round + 1}`, signal };
  });
