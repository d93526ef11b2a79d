import { setTimeout as sleep } from 'node:timers/promises';
import { samplesOf } from '../load/shapes.js';
import { startObserving } from './observe.js';

/** @import { Shape } from '../load/shapes.js' */
/** @import { Contender } from '../stand/line.js' */

/** How often it is looked whether every device has been heard once, in ms. */
const LOOK_MS = 250;

/**
 * How fast a contender took a load for a while, and what that cost.
 *
 * @typedef {object} Rate
 * @property {number} rate samples/s committed
 * @property {Record<string, number>} cpu µs a sample by process, `database` among them
 * @property {number} steal part of the machine that the host took away, 0 to 1
 * @property {number} others part of the machine that processes of nobody's here used, 0 to 1
 */

/**
 * @param {Contender} contender
 * @param {Shape} shape
 * @param {{ database: number, warmMs: number, forMs: number }} options `database`: its pid
 * @returns {Promise<Rate>}
 */
export async function measureRate(contender, shape, { database, warmMs, forMs }) {
  const first = await contender.committed();
  await contender.begin(shape);
  try {
    // Devices are registered by their first message, which is not what is measured.
    while ((await contender.committed()) - first < shape.devices * samplesOf(shape)) await sleep(LOOK_MS);
    await sleep(warmMs);
    const observed = await startObserving({ ...contender.pids, database });
    const before = await contender.committed();
    await sleep(forMs);
    const samples = (await contender.committed()) - before;
    const { seconds, cpu, steal, others } = await observed();
    return {
      rate: samples / seconds,
      cpu: Object.fromEntries(Object.entries(cpu).map(([name, used]) => [name, (used * 1e6) / samples])),
      steal,
      others,
    };
  } finally {
    await contender.end();
  }
}
