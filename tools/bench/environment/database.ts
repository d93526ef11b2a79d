import { join } from 'node:path';
import { claimDataDir, emptyDataDir } from '../../../common/data-dir.ts';
import type { Profile } from '../../../infra/engine/command.ts';
import { LARGE_BATCHES, startEngine } from '../../../infra/engine/index.ts';
import type { Nodetool } from '../../../infra/engine/nodetool.ts';
import { steadyPort } from '../../../infra/engine/ports.ts';
import { findLockHolder } from '../../../infra/engine/process/lock.ts';
import { NODE_FOLDER } from '../../../infra/engine/process/previous.ts';

export interface Database {
  contactPoint: string;
  pid: number;
  nodetool?: Nodetool;
  kill?: () => Promise<void>;
  /** starts it again after `kill`, with the data that it had written */
  start?: () => Promise<void>;
}

/** Accepts batches of the same size as the Cassandra of `npm run dev`. */
export async function startDatabase({
  dir,
  engineDir,
  profile = 'bench',
  durable,
  onStatus,
  signal,
}: {
  /** folder that is emptied */
  dir: string;
  engineDir: string;
  /** default: `bench`, which runs at full speed with a heap of fixed size */
  profile?: Profile;
  /** true: a write is on the disk before the database answers */
  durable?: boolean;
  onStatus: (text: string) => void;
  signal?: AbortSignal;
}): Promise<Database & { stop: () => Promise<void>; kill: () => Promise<void>; start: () => Promise<void> }> {
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
