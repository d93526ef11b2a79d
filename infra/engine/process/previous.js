import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../../common/errors.js';
import { findLockHolder } from './lock.js';

/** @import { Holder } from './lock.js' */

/** The folder of the database in a data directory. */
export const NODE_FOLDER = 'cassandra';

const POLL_MS = 200;
/** A supervisor ends its engine within 10 s; twice that means that something is stuck. */
const STOP_TIMEOUT_MS = 20_000;
/** A parent that was killed a moment ago has a supervisor that is about to notice. */
const NOTICE_MS = 1000;

/**
 * Waits for an engine that is on its way out of this directory, such as that of a `npm run dev` just stopped.
 *
 * @param {string} dataDir may not be there yet
 * @param {{ folder?: string, onStatus?: (text: string) => void, signal?: AbortSignal }} [options] `folder`: of the engine in the data directory; default: the database's
 * @throws {MillraceError} `data_dir_taken` when it works and stays
 */
export async function awaitPrevious(dataDir, { folder = NODE_FOLDER, onStatus = () => {}, signal } = {}) {
  const dir = join(await realpath(dataDir).catch(() => dataDir), folder);
  const began = Date.now();
  for (;;) {
    const holder = await findLockHolder(dir);
    if (!holder) return;
    const waited = Date.now() - began;
    if (waited > (holder.stopping ? STOP_TIMEOUT_MS : NOTICE_MS)) throw taken(dir, holder);
    onStatus('waiting for the last engine to stop');
    await sleep(POLL_MS, undefined, { signal });
  }
}

/** @param {string} dir @param {Holder} holder */
const taken = (dir, holder) =>
  new MillraceError(
    'data_dir_taken',
    `An engine (process ${holder.java ?? holder.supervisor}) works in ${dir} already. Is another \`npm run dev\` running? Stop it, or set DATA_DIR, CQL_LOCAL_PORT, HTTP_PORT and MQTT_PORT for a second one.`,
  );
