import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { claimDataDir } from '../../../common/data-dir.ts';
import { awaitPrevious } from './previous.ts';

/**
 * Creates the folder of a server in the data directory, and waits until an earlier server there has ended.
 * @returns `home`: real path of the data directory
 * @throws `data_dir_taken`
 */
export async function openServerDir(
  dataDir: string,
  folder: string,
  options: { onStatus: ((text: string) => void) | undefined; signal: AbortSignal | undefined },
): Promise<{ home: string; dir: string }> {
  const { onStatus, signal } = options;
  await claimDataDir(dataDir);
  // The real path is used, so that a directory has one lock even if it is reached through a link.
  const home = await realpath(dataDir);
  const dir = join(home, folder);
  await mkdir(dir, { recursive: true });
  await awaitPrevious(dataDir, { folder, ...(onStatus && { onStatus }), ...(signal && { signal }) });
  return { home, dir };
}
