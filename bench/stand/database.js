import { join } from 'node:path';
import { claimDataDir, emptyDataDir } from '../../common/data-dir.js';
import { startEngine } from '../../infra/engine/index.js';
import { holderOf } from '../../infra/engine/lock.js';
import { freePort } from '../../infra/engine/ports.js';
import { NODE_FOLDER } from '../../infra/engine/previous.js';

/** @typedef {{ contactPoint: string, pid: number, nodetool?: import('../../infra/engine/nodetool.js').Nodetool }} Database */

/**
 * A Cassandra of the bench's own, with nothing in it.
 *
 * @param {object} options
 * @param {string} options.dir emptied
 * @param {string} options.engineDir where the jars are kept
 * @param {import('../../infra/engine/command.js').Profile} [options.profile] default: at full speed, with a heap that stays as it is
 * @param {(text: string) => void} options.onStatus
 * @param {AbortSignal} [options.signal]
 * @returns {Promise<Database & { stop: () => Promise<void> }>}
 */
export async function startDatabase({ dir, engineDir, profile = 'bench', onStatus, signal }) {
  await emptyDataDir(dir, []);
  await claimDataDir(dir);
  const port = await freePort();
  const engine = await startEngine({ dataDir: dir, port, engineDir, profile, onStatus, signal });
  const holder = await holderOf(join(dir, NODE_FOLDER));
  return {
    contactPoint: engine.contactPoint,
    pid: Number(holder?.java),
    nodetool: engine.nodetool,
    stop: engine.stop,
  };
}
