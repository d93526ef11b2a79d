import { statfs } from 'node:fs/promises';
import { MillraceError } from '../../common/errors.ts';

/** Free disk space without which a local database does not start, in bytes: for the jars, a gigabyte of commit log and some data. */
export const ROOM_NEEDED_BYTES = 2 * 1024 ** 3;

/** @throws `disk_full` */
export async function checkDisk(dir: string, neededBytes: number = ROOM_NEEDED_BYTES) {
  const free = await freeBytes(dir);
  if (free >= neededBytes) return;
  throw new MillraceError(
    'disk_full',
    `${dir} has ${mebibytes(free)} MiB free; the database needs ${mebibytes(neededBytes)} MiB. Make room, or set DATA_DIR to a larger disk.`,
  );
}

/** Bytes that an ordinary user may write. */
export async function freeBytes(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir);
  return bavail * bsize;
}

const mebibytes = (bytes: number) => Math.floor(bytes / 1024 ** 2);
