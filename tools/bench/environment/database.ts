import { join } from 'node:path';
import { claimDataDir, emptyDataDir } from '../../../common/data-dir.js';
import { LARGE_BATCHES, startEngine } from '../../../infra/engine/index.js';
import { steadyPort } from '../../../infra/engine/ports.js';
import { findLockHolder } from '../../../infra/engine/process/lock.js';
import { NODE_FOLDER } from '../../../infra/engine/process/previous.js';

/** @import { Profile } from '../../../infra/engine/command.js' */
/** @import { Nodetool } from '../../../infra/engine/nodetool.js' */

/**
 * @typedef {object} Database
 * @property {string} contactPoint
 * @property {number} pid
 * @property {Nodetool} [nodetool]
 * @property {() => Promise<void>} [kill] ends it with SIGKILL
 * @property {() => Promise<void>} [start] starts the database again after `kill`, with the data that it had written
 */

/**
 * Starts an empty Cassandra for the bench. It accepts batches of the same size as the Cassandra of `npm run dev`.
 *
 * @param {object} options
 * @param {string} options.dir data folder, which is emptied
 * @param {string} options.engineDir folder of the jars
 * @param {Profile} [options.profile] default: `bench`, which runs at full speed with a heap of fixed size
 * @param {boolean} [options.durable] true: a write is on the disk before the database answers
 * @param {(text: string) => void} options.onStatus
 * @param {AbortSignal} [options.signal]
 * @returns {Promise<Database & { stop: () => Promise<void>, kill: () => Promise<void>, start: () => Promise<void> }>}
 */
export async function startDatabase({ dir, engineDir, profile = 'bench', durable, onStatus, signal }) {
  await emptyDataDir(dir, []);
  await claimDataDir(dir);
  const port = await steadyPort();
  const run = async () => {
    const options = { dataDir: dir, port, engineDir, profile, durable, onStatus, signal };
    const engine = await startEngine({ ...options, settings: LARGE_BATCHES });
    return { engine, pid: Number((await findLockHolder(join(dir, NODE_FOLDER)))?.java) };
  };
  let { engine, pid } = await run();
  return {
    contactPoint: engine.contactPoint,
    get pid() {
      return pid;
    },
    get nodetool() {
      return engine.nodetool;
    },
    stop: () => engine.stop(),
    async kill() {
      engine.kill();
      await engine.exited;
    },
    async start() {
      ({ engine, pid } = await run());
    },
  };
}
