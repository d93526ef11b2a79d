import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, MillraceError } from './errors.ts';

/** Marks a directory that Millrace made and may empty. */
export const MARKER = '.millrace';

/** `npm run docs:build` and `npm run dev:web` write these in the default `DATA_DIR`, maybe before the first start. They stay. */
const CACHES = ['manual', 'vite', 'vitepress'];

/**
 * Marks `DATA_DIR` if it is empty or holds only caches. A directory with other contents stays unmarked, so that Millrace never empties it.
 */
export async function claimDataDir(dataDir: string) {
  await mkdir(dataDir, { recursive: true });
  if ((await readdir(dataDir)).every((name) => CACHES.includes(name))) {
    await writeFile(
      join(dataDir, MARKER),
      'The data of Millrace. `npm run dev -- --fresh` empties this directory.\n',
    );
  }
}

/**
 * The marker, the caches and the entries to `keep` stay. A missing directory counts as empty.
 * @throws `not_ours` when the directory has no marker
 */
export async function emptyDataDir(dataDir: string, keep: string[]) {
  const entries = await readdir(dataDir).catch((error) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const doomed = entries.filter((name) => name !== MARKER && ![...CACHES, ...keep].includes(name));
  if (doomed.length === 0) return;
  if (!(await isMarked(dataDir))) {
    throw new MillraceError(
      'not_ours',
      `${dataDir} was not made by Millrace (it has no file ${MARKER}), so --fresh does not empty it. Choose another DATA_DIR, or empty it yourself.`,
    );
  }
  await Promise.all(doomed.map((name) => rm(join(dataDir, name), { recursive: true, force: true })));
}

async function isMarked(dataDir: string) {
  try {
    return (await stat(join(dataDir, MARKER))).isFile();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}
