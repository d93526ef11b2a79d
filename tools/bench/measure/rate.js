import { setTimeout as sleep } from 'node:timers/promises';
import { samplesOf } from '../load/shapes.js';
import { startObserving } from './observe.js';

/** @import { Shape } from '../load/shapes.js' */
/** @import { Variant } from '../environment/pipeline.js' */

/** Pause between two checks whether every device has arrived once, in ms. */
const LOOK_MS = 250;

/**
 * How fast a variant took a load for a while, and what that cost.
 *
 * @typedef {object} Rate
 * @property {number} rate samples/s committed
 * @property {Record<string, number>} cpu µs a sample by process, `database` among them
 * @property {number} steal part of the machine that the host took away, 0 to 1
 * @property {number} others part of the machine that processes outside the bench used, 0 to 1
 */

/**
 * @param {Variant} variant
 * @param {Shape} shape
 * @param {{ database: number, warmMs: number, forMs: number }} options `database`: its pid
 * @returns {Promise<Rate>}
 */
export async function measureRate(variant, shape, { database, warmMs, forMs }) {
  const first = await variant.committed();
  await variant.begin(shape);
  try {
    // Devices are registered by their first message, which is not what is measured.
    while ((await variant.committed()) - first < shape.devices * samplesOf(shape)) await sleep(LOOK_MS);
    await sleep(warmMs);
    const observed = await startObserving({ ...variant.pids, database });
    const before = await variant.committed();
    await sleep(forMs);
    const samples = (await variant.committed()) - before;
    const { seconds, cpu, steal, others } = await observed();
    return {
      rate: samples / seconds,
      cpu: Object.fromEntries(Object.entries(cpu).map(([name, used]) => [name, (used * 1e6) / samples])),
      steal,
      others,
    };
  } finally {
    await variant.end();
  }
}
