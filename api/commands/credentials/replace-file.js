import { chmod, chown, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { MillraceError } from '../../../common/errors.js';

/** Nobody but the owner, unless the file before let its group read: that of the broker, as Debian's guides have it. */
const FOR_OWNER = 0o600;
const GROUP_READS = 0o040;

/**
 * Replaces a file that another program reads: who reads finds the whole of the old one, or of the new one. It belongs to whom the
 * old one belongs, else to the owner of its directory; so what was handed over to that program stays readable for it.
 *
 * @param {string} path its directory is there
 * @param {string} text
 * @returns {Promise<{ isHandedOver: boolean }>} whether another user than ours, or a group, can read it
 * @throws {MillraceError} `failed` when we may not give it to its owner; the old one stays
 */
export async function replaceFile(path, text) {
  const directory = await stat(dirname(path));
  const before = await stat(path).catch(() => null);
  const { uid, gid } = before ?? directory;
  const mode = FOR_OWNER | ((before?.mode ?? 0) & GROUP_READS);
  const draft = `${path}.${process.pid}`;
  try {
    await writeFile(draft, text, { mode: FOR_OWNER });
    await chown(draft, uid, gid);
    await chmod(draft, mode);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EPERM') throw error;
    throw new MillraceError(
      'failed',
      `${path} stays as it was: it belongs to user ${uid} and group ${gid}. Write it as that user, or as root.`,
      { cause: error },
    );
  }
  const isAnothers = uid !== process.getuid?.() && uid === directory.uid;
  return { isHandedOver: isAnothers || (mode & GROUP_READS) !== 0 };
}
