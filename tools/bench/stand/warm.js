import { shapeOf } from '../load/shapes.js';
import { measureRate } from '../measure/rate.js';

/** @import { Shape } from '../load/shapes.js' */
/** @import { Stand } from './index.js' */

/**
 * Runs load until the database's JVM has compiled what it needs: a fresh one is 3 to 8 times slower, and would make the
 * first contender look bad.
 *
 * @param {Stand} stand
 * @param {number} forMs
 * @param {(text: string) => void} onStatus
 */
export async function warm(stand, forMs, onStatus) {
  const contenders = [await stand.line('packed'), await stand.line('rows', { store: 'rows', gate: true })];
  const loads = ['1x60', '1x1'];
  for (const load of loads) {
    const shape = /** @type {Shape} */ (shapeOf(load));
    for (const contender of contenders) {
      onStatus(`warming the database: ${contender.name}, ${load}`);
      const ms = forMs / loads.length / contenders.length;
      await measureRate(contender, shape, { database: stand.database, warmMs: ms, forMs: 100 });
    }
  }
}
