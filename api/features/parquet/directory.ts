import { randomUUID } from 'node:crypto';
import { access, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../../../common/errors.ts';

/** A directory or a bucket. Paths are relative and separated by `/`. */
export interface Target {
  has: (path: string) => Promise<boolean>;
  /** null: no such file */
  read: (path: string) => Promise<string | null>;
  /** replaces the file atomically */
  write: (path: string, chunks: Uint8Array[]) => Promise<void>;
  /** also succeeds if there is no such file */
  remove: (path: string) => Promise<void>;
}

/** A file gets its final name when all its bytes are on the disk. */
export function createDirectoryTarget(directory: string): Target {
  const at = (path: string) => join(directory, path);
  return {
    has: (path) => access(at(path)).then(() => true, orIfMissing(false)),

    read: (path) => readFile(at(path), 'utf8').catch(orIfMissing(null)),

    async write(path, chunks) {
      const folder = dirname(at(path));
      // Readers ignore names that begin with a dot. Two processes never share an unfinished file.
      const unfinished = join(folder, `.${basename(path)}.${randomUUID()}`);
      await mkdir(folder, { recursive: true });
      try {
        const file = await open(unfinished, 'wx');
        try {
          for (const chunk of chunks) await file.writeFile(chunk);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(unfinished, at(path));
        await syncFolder(folder);
      } catch (error) {
        await rm(unfinished, { force: true });
        throw error;
      }
    },

    remove: (path) => rm(at(path), { force: true }),
  };
}

/**
 * A new file name is safe only after this. Otherwise a power failure could lose a file of samples, but keep the later file with the
 * progress.
 */
async function syncFolder(folder: string) {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** @throws errors other than a missing file */
const orIfMissing =
  <T>(value: T): ((error: unknown) => T) =>
  (error) => {
    if (codeOf(error) === 'ENOENT') return value;
    throw error;
  };
