import { measureRate } from './rate.js';
import { median } from './rounds.js';

/** A part needs to know what half of the highest rate is: how often it is measured. */
const TIMES = 2;

/**
 * @param {import('../stand/line.js').Contender} contender
 * @param {import('../load/shapes.js').Shape} shape
 * @param {Pick<import('../context.js').Context, 'stand' | 'flags'>} context
 * @returns {Promise<number>} the highest rate, samples/s
 */
export async function measurePeak(contender, shape, { stand, flags }) {
  const timing = { database: stand.database, warmMs: flags.warmMs * 2, forMs: flags.runMs };
  const rates = [];
  for (let time = 0; time < TIMES; time++) rates.push((await measureRate(contender, shape, timing)).rate);
  return median(rates);
}
