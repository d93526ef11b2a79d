import { measureRate } from './rate.js';
import { median } from './rounds.js';

/** @import { Context } from '../context.js' */
/** @import { Shape } from '../load/shapes.js' */
/** @import { Variant } from '../environment/pipeline.js' */

/** A part needs to know what half of the highest rate is: how often it is measured. */
const TIMES = 2;

/**
 * @param {Variant} variant
 * @param {Shape} shape
 * @param {Pick<Context, 'environment' | 'flags'>} context
 * @returns {Promise<number>} the highest rate, samples/s
 */
export async function measurePeak(variant, shape, { environment, flags }) {
  const timing = { database: environment.database, warmMs: flags.warmMs * 2, forMs: flags.runMs };
  const rates = [];
  for (let time = 0; time < TIMES; time++) rates.push((await measureRate(variant, shape, timing)).rate);
  return median(rates);
}
