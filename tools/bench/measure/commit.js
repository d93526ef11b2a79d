import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const ROOT = new URL('../../..', import.meta.url);

/**
 * The commit whose code runs here, with `-dirty` behind it where tracked files were changed since.
 *
 * @param {URL | string} [directory]
 * @returns {Promise<string | null>} null: Git is missing, or this is not a clone
 */
export async function currentCommit(directory = ROOT) {
  try {
    const args = ['describe', '--always', '--dirty', '--abbrev=12', '--exclude=*'];
    const { stdout } = await promisify(execFile)('git', args, { cwd: directory });
    return stdout.trim();
  } catch {
    return null;
  }
}
