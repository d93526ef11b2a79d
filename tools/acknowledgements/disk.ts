import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MillraceError } from '../../common/errors.ts';

/** EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH (fs/ext4/ext4.h): what is not on the disk yet never gets there. */
const SHUT_DOWN = 'my $flags = pack("L", 2); open(D, "<", "disk") && ioctl(D, 0x8004587d, $flags) || die $!';

const MOUNT = 'mount -o loop disk.img disk';
/** The kernel closes the files of a killed program a moment later. */
const UNMOUNT = 'for try in $(seq 100); do umount disk && break; sleep 0.1; done';

/** A file system of its own, ext4 in a file: it can be full, and lose its power. */
export class Disk {
  readonly path: string;
  readonly #dir: string;
  #isMounted = true;

  private constructor(dir: string) {
    this.#dir = dir;
    this.path = join(dir, 'disk');
  }

  /** Its folder is an ordinary one if this user may not mount it, or if this is not Linux. */
  static async create(dir: string): Promise<Disk> {
    const disk = new Disk(dir);
    await mkdir(disk.path, { recursive: true });
    await disk.#shell(`truncate -s 6G disk.img && mkfs.ext4 -qFm0 disk.img && ${MOUNT}`).catch(() => {
      disk.#isMounted = false;
    });
    return disk;
  }

  /** Leaves `bytes` free. */
  fill(bytes: number): Promise<void> {
    return this.#shell(`fallocate -l $(($(stat -fc '%a * %S' disk) - ${bytes})) disk/ballast`);
  }

  free(): Promise<void> {
    return this.#shell('rm disk/ballast');
  }

  /** The programs that use it go on, but nothing more reaches the disk. */
  cutPower(): Promise<void> {
    return this.#shell(`perl -e '${SHUT_DOWN}'`);
  }

  /** After all programs that used it have ended. */
  restorePower(): Promise<void> {
    return this.#shell(`${UNMOUNT} && ${MOUNT}`);
  }

  async remove() {
    if (this.#isMounted) await this.#shell(`${UNMOUNT} && rm disk.img`);
    this.#isMounted = false;
  }

  async #shell(command: string) {
    if (!this.#isMounted)
      throw new MillraceError('failed', 'it needs root on Linux, and a broker that the suite starts');
    await promisify(execFile)('sh', ['-c', command], { cwd: this.#dir });
  }
}
