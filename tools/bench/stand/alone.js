import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shapeOf } from '../load/shapes.js';
import { startChild } from './child.js';

const ALONE = fileURLToPath(new URL('../contenders/alone.js', import.meta.url));

/** A process that does to messages what has to be done, and nothing with them. @param {string} dir @param {string[]} nodeFlags */
export async function startAlone(dir, nodeFlags) {
  const child = await startChild(ALONE, { title: 'encoder', log: join(dir, 'alone.log'), nodeFlags });
  return {
    /** @param {string} load @param {number} forMs @returns {Promise<number>} CPU µs a sample */
    cost: (load, forMs) => child.ask('cost', { shape: shapeOf(load), forMs }),
    close: () => child.stop(),
  };
}
