import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const globals = new URL('runner/globals.js', import.meta.url).href;

/** Folder for temporary files of tests, so that those of killed tests are removed with the copy. */
export const TEMPORARY = '.tmp';

/** Entries of the checkout that a copy does not have. */
const LEFT_OUT = new Set(['node_modules', '.git', '.data', '.env', 'coverage', 'secrets']);

/**
 * A copy of the checkout, in which one source file at a time is changed. The checkout itself never changes.
 */
export class Workspace {
  /** @param {string} directory */
  constructor(directory) {
    this.directory = directory;
  }

  /**
   * @param {{ jest?: boolean }} [options] `jest`: the copy is for jest itself, with unchanged packages. Otherwise
   *   the small runner replaces `@jest/globals`.
   */
  static async create({ jest = false } = {}) {
    const directory = await mkdtemp(join(tmpdir(), 'millrace-mutation-'));
    await cp(root, directory, {
      recursive: true,
      filter: (path) => !LEFT_OUT.has(relative(root, path)),
    });
    if (jest) {
      await symlink(join(root, 'node_modules'), join(directory, 'node_modules'));
      await mkdir(join(directory, '.data'));
      await symlink(join(root, '.data', 'engine'), join(directory, '.data', 'engine'));
    } else await linkPackages(join(root, 'node_modules'), join(directory, 'node_modules'));
    await mkdir(join(directory, TEMPORARY));
    return new Workspace(directory);
  }

  /** @param {string} file relative to the checkout @returns {Promise<string>} */
  read(file) {
    return readFile(join(this.directory, file), 'utf8');
  }

  /**
   * Replaces a file while some work runs, and restores it.
   *
   * @template T
   * @param {string} file relative to the checkout
   * @param {string} text
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  async with(file, text, work) {
    const original = await this.read(file);
    await writeFile(join(this.directory, file), text);
    try {
      return await work();
    } finally {
      await writeFile(join(this.directory, file), original);
    }
  }

  remove() {
    return rm(this.directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Links every package, except that the runner replaces `@jest/globals`. @param {string} from @param {string} to */
async function linkPackages(from, to) {
  await mkdir(join(to, '@jest', 'globals'), { recursive: true });
  for (const name of await readdir(from)) {
    if (name !== '@jest') await symlink(join(from, name), join(to, name));
  }
  for (const name of await readdir(join(from, '@jest'))) {
    if (name !== 'globals') await symlink(join(from, '@jest', name), join(to, '@jest', name));
  }
  const replacement = join(to, '@jest', 'globals');
  await writeFile(join(replacement, 'package.json'), '{ "type": "module", "exports": "./index.js" }\n');
  await writeFile(join(replacement, 'index.js'), `export * from '${globals}';\n`);
}
