import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { claimDataDir } from '../../common/data-dir.js';

/**
 * The key that signs cursors, when no setting gives one: random, kept for the next start.
 *
 * @param {string} dataDir
 * @returns {Promise<string>}
 */
export async function cursorSecret(dataDir) {
  const path = join(dataDir, 'cursor-secret');
  await claimDataDir(dataDir);
  try {
    // Of two processes that start at once one writes; both read what was written.
    await writeFile(path, randomBytes(32).toString('base64url'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
  }
  return readFile(path, 'utf8');
}
