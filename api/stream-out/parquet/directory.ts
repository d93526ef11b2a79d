import { randomUUID } from 'node:crypto';
import { access, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** A place for files: a directory or a bucket. Paths are relative and separated by `/`. */
export interface Target {
  /** whether the file exists */
  has: (path: string) => Promise<boolean>;
  /** null: the file does not exist */
  read: (path: string) => Promise<string | null>;
  /** replaces a file atomically */
  write: (path: string, chunks: Uint8Array[]) => Promise<void>;
  /** also succeeds if the file does not exist */
  remove: (path: string) => Promise<void>;
}

/**
 * Creates a target that writes files into a directory. A file gets its final name when all its bytes are on the disk.
 */
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
 * Flushes a folder to the disk, because a new file name is safe only after that. Otherwise a power failure could lose a file of
 * samples, but keep the later file with the progress.
 */
async function syncFolder(folder: string) {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Returns a handler of errors that returns `value` if a file does not exist.
 * @returns throws every other error
 */
const orIfMissing =
  <T>(value: T): ((error: unknown) => T) =>
  (error) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return value;
    throw error;
  };
