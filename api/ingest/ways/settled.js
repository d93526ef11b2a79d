/**
 * @param {import('../../vitals.js').Vitals} vitals
 * @param {import('../basket.js').Basket} basket whose measurements are committed, or in a dead letter
 * @param {number} began by `performance.now()`
 */
export function noteSettled(vitals, { counts, refused }, began) {
  vitals.note({ samples: counts.samples, refused: refused.length, commitMs: performance.now() - began });
}
