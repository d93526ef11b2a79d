import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../../common/errors.ts';
import { findLockHolder, type Holder } from './lock.ts';

export const NODE_FOLDER = 'cassandra';

const POLL_MS = 200;
/** Time limit for the stop of a previous server, in ms. A supervisor ends its server within 10 s. After 20 s the server is stuck. */
const STOP_TIMEOUT_MS = 20_000;
/** Time in which a supervisor notices that its parent was killed, in ms. */
const NOTICE_MS = 1000;

/**
 * Such as the database of a `npm run dev` that has just ended.
 * @param dataDir may not exist yet
 * @throws `data_dir_taken` when a server runs there and does not stop in time
 */
export async function awaitPrevious(
  dataDir: string,
  {
    folder = NODE_FOLDER,
    onStatus = () => {},
    signal,
  }: { folder?: string; onStatus?: (text: string) => void; signal?: AbortSignal } = {},
) {
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

const taken = (dir: string, holder: Holder) =>
  new MillraceError(
    'data_dir_taken',
    `An engine (process ${holder.java ?? holder.supervisor}) works in ${dir} already. Is another \`npm run dev\` running? Stop it, or set DATA_DIR, CQL_LOCAL_PORT, HTTP_PORT and MQTT_PORT for a second one.`,
  );
