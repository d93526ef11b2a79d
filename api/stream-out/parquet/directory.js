import { randomUUID } from 'node:crypto';
import { access, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * Where files go. Paths are relative and have `/`.
 *
 * @typedef {object} Target
 * @property {(path: string) => Promise<boolean>} has
 * @property {(path: string) => Promise<string | null>} read null: there is no such file
 * @property {(path: string, chunks: Uint8Array[]) => Promise<void>} write replaces a file, as a whole
 * @property {(path: string) => Promise<void>} remove also if it is gone already
 */

/**
 * Files of a directory. A file gets its name when all of it is on the disk.
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
      // Readers list no name that begins with a dot. Two processes never share an unfinished file.
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

/** A new name is on the disk when its folder is. Else a power cut could keep the progress, and lose a file before it. @param {string} folder */
async function syncFolder(folder) {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * @template T
 * @param {T} value
 * @returns {(error: unknown) => T} throws every other error
 */
const orIfMissing = (value) => (error) => {
  if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return value;
  throw error;
};
