import { measureRate } from './rate.js';
import { median } from './rounds.js';

/** @import { Context } from '../context.js' */
/** @import { Shape } from '../load/shapes.js' */
/** @import { Contender } from '../stand/line.js' */

/** A part needs to know what half of the highest rate is: how often it is measured. */
const TIMES = 2;

/**
 * @param {Contender} contender
 * @param {Shape} shape
 * @param {Pick<Context, 'stand' | 'flags'>} context
 * @returns {Promise<number>} the highest rate, samples/s
 */
export async function measurePeak(contender, shape, { stand, flags }) {
  const timing = { database: stand.database, warmMs: flags.warmMs * 2, forMs: flags.runMs };
  const rates = [];
  for (let time = 0; time < TIMES; time++) rates.push((await measureRate(contender, shape, timing)).rate);
  return median(rates);
}
