import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MillraceError } from './errors.js';

/** Says that a directory is ours to empty. */
export const MARKER = '.millrace';

/**
 * Makes `DATA_DIR` and marks it as ours when it is new or empty. A directory that already holds something is left
 * unmarked, and so can never be emptied by us.
 *
 * @param {string} dataDir absolute path
 */
export async function claimDataDir(dataDir) {
  await mkdir(dataDir, { recursive: true });
  if ((await readdir(dataDir)).length === 0) {
    await writeFile(
      join(dataDir, MARKER),
      'The data of Millrace. `npm run dev -- --fresh` empties this directory.\n',
    );
  }
}

/**
 * Empties `DATA_DIR`, but for the marker and what is kept. A directory that is not there is empty already.
 *
 * @param {string} dataDir absolute path
 * @param {string[]} keep names of entries that stay
 * @throws {MillraceError} `not_ours`
 */
export async function emptyDataDir(dataDir, keep) {
  const entries = await readdir(dataDir).catch((error) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (entries.length === 0) return;
  if (!(await isMarked(dataDir))) {
    throw new MillraceError(
      'not_ours',
      `${dataDir} was not made by Millrace (it has no file ${MARKER}), so --fresh does not empty it. Choose another DATA_DIR, or empty it yourself.`,
    );
  }
  const doomed = entries.filter((name) => name !== MARKER && !keep.includes(name));
  await Promise.all(doomed.map((name) => rm(join(dataDir, name), { recursive: true, force: true })));
}

/** @param {string} dataDir */
async function isMarked(dataDir) {
  try {
    return (await stat(join(dataDir, MARKER))).isFile();
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return false;
    throw error;
  }
}
