import { randomUUID } from 'node:crypto';
import { access, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * A place for files: a directory or a bucket. Paths are relative and separated by `/`.
 *
 * @typedef {object} Target
 * @property {(path: string) => Promise<boolean>} has whether the file exists
 * @property {(path: string) => Promise<string | null>} read null: the file does not exist
 * @property {(path: string, chunks: Uint8Array[]) => Promise<void>} write replaces a file atomically
 * @property {(path: string) => Promise<void>} remove also succeeds if the file does not exist
 */

/**
 * Creates a target that writes files into a directory. A file gets its final name when all its bytes are on the disk.
 *
 * @param {string} directory
 * @returns {Target}
 */
export function createDirectoryTarget(directory) {
  const at = (/** @type {string} */ path) => join(directory, path);
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
 *
 * @param {string} folder
 */
async function syncFolder(folder) {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Returns a handler of errors that returns `value` if a file does not exist.
 *
 * @template T
 * @param {T} value
 * @returns {(error: unknown) => T} throws every other error
 */
const orIfMissing = (value) => (error) => {
  if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return value;
  throw error;
};
