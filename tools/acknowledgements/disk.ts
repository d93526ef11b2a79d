import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH (fs/ext4/ext4.h): what is not on the disk yet never gets there. */
const SHUT_DOWN = 'my $flags = pack("L", 2); open(D, "<", "disk") && ioctl(D, 0x8004587d, $flags) || die $!';

/** The kernel closes the files of a killed program a moment later. */
const UNMOUNT = 'for try in $(seq 100); do umount disk && break; sleep 0.1; done';

/** A file system of its own, ext4 in a file: it can be full, and lose its power. */
export class Disk {
  readonly #dir: string;

  private constructor(dir: string) {
    this.#dir = dir;
  }

  /** @returns null: this user may not mount it, or this is not Linux; the folder `disk` is an ordinary one */
  static async create(dir: string): Promise<Disk | null> {
    await mkdir(join(dir, 'disk'), { recursive: true });
    const disk = new Disk(dir);
    const create = 'truncate -s 6G disk.img && mkfs.ext4 -qFm0 disk.img && mount -o loop disk.img disk';
    return disk.#shell(create).then(
      () => disk,
      () => null,
    );
  }

  /** Leaves `bytes` free. */
  fill(bytes: number) {
    return this.#shell(`fallocate -l $(($(stat -fc '%a * %S' disk) - ${bytes})) disk/ballast`);
  }

  free() {
    return this.#shell('rm disk/ballast');
  }

  /** The programs that use it go on, but nothing more reaches the disk. */
  cutPower() {
    return this.#shell(`perl -e '${SHUT_DOWN}'`);
  }

  /** After all programs that used it have ended. */
  async restorePower() {
    await this.#shell(`${UNMOUNT} && mount -o loop disk.img disk`);
  }

  remove() {
    return this.#shell(`${UNMOUNT} && rm disk.img`);
  }

  async #shell(command: string) {
    await promisify(execFile)('sh', ['-c', command], { cwd: this.#dir });
  }
}
