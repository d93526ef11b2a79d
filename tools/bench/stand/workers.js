import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startChild } from './child.js';

/** @import { Latencies } from '../measure/latencies.js' */

const WORKERS = fileURLToPath(new URL('../contenders/workers.js', import.meta.url));

/** A process that uses our store as many at once do. @param {string} dir @param {{ settings: NodeJS.ProcessEnv, nodeFlags: string[] }} options */
export async function startWorkers(dir, { settings, nodeFlags }) {
  const child = await startChild(WORKERS, {
    title: 'workers',
    log: join(dir, 'workers.log'),
    env: settings,
    nodeFlags,
  });
  return {
    pid: child.pid,
    /** @param {{ workers: number, forMs: number }} load @returns {Promise<{ inserts: Worked, selects: Worked }>} */
    run: (load) => child.ask('run', load),
    close: () => child.stop(),
  };
}

/** @typedef {Latencies & { errors: number }} Worked */
