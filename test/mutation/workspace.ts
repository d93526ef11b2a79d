import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Folder for temporary files of tests, so that those of killed tests are removed with the copy. */
export const TEMPORARY = '.tmp';

/** Entries of the checkout that a copy does not have. */
const LEFT_OUT = new Set(['node_modules', '.node', '.git', '.data', '.env', 'coverage', 'secrets']);

/** A copy of the checkout, in which one source file at a time is changed. */
export class Workspace {
  declare directory: string;

  constructor(directory: string) {
    this.directory = directory;
  }

  static async create() {
    const directory = await mkdtemp(join(tmpdir(), 'millrace-mutation-'));
    await cp(root, directory, {
      recursive: true,
      filter: (path) => !LEFT_OUT.has(relative(root, path)),
    });
    await symlink(join(root, 'node_modules'), join(directory, 'node_modules'));
    await mkdir(join(directory, TEMPORARY));
    return new Workspace(directory);
  }

  /** Changes a file while some work runs, and restores it. @param file relative to the checkout */
  async with<T>(file: string, change: (source: string) => string, work: () => Promise<T>): Promise<T> {
    const path = join(this.directory, file);
    const original = await readFile(path, 'utf8');
    await writeFile(path, change(original));
    try {
      return await work();
    } finally {
      await writeFile(path, original);
    }
  }

  remove() {
    return rm(this.directory, { recursive: true, force: true, maxRetries: 3 });
  }
}
