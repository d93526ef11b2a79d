import { join } from 'node:path';
import { claimDataDir, emptyDataDir } from '../../../common/data-dir.ts';
import type { Profile } from '../../../infra/engine/command.ts';
import { LARGE_BATCHES, startEngine } from '../../../infra/engine/index.ts';
import type { Nodetool } from '../../../infra/engine/nodetool.ts';
import { steadyPort } from '../../../infra/engine/ports.ts';
import { findLockHolder } from '../../../infra/engine/process/lock.ts';
import { NODE_FOLDER } from '../../../infra/engine/process/previous.ts';

/** `nodetool` is missing if the bench did not start the database. */
export type Database = { contactPoint: string; pid: number; nodetool?: Nodetool };

/**
 * Accepts batches of the same size as the Cassandra of `npm run dev`.
 * @param options `dir`: folder that is emptied; `profile`: default `bench`, which runs at full speed with a heap of fixed size;
 * `durable`: a write is on the disk before the database answers
 */
export async function startDatabase({
  dir,
  profile = 'bench',
  ...options
}: {
  dir: string;
  engineDir: string;
  profile?: Profile;
  durable?: boolean;
  onStatus: (text: string) => void;
  signal?: AbortSignal;
}): Promise<Database & { stop: () => Promise<void> }> {
  await emptyDataDir(dir, []);
  await claimDataDir(dir);
  const place = { dataDir: dir, port: await steadyPort() };
  const engine = await startEngine({ ...options, ...place, profile, settings: LARGE_BATCHES });
  const pid = Number((await findLockHolder(join(dir, NODE_FOLDER)))?.java);
  const { contactPoint, nodetool } = engine;
  return { contactPoint, nodetool, pid, stop: () => engine.stop() };
}
