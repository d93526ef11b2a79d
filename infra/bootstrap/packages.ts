import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { MillraceError } from '../../common/errors.ts';
import { runShown } from './run-shown.ts';

type Locked = { version?: string; optional?: boolean; devOptional?: boolean; link?: boolean };

/**
 * Installs the npm packages of package-lock.json. False: exactly these packages are installed already.
 * @throws `tool_missing`, `install_failed`
 */
export async function ensurePackages(
  root: string,
  { onStatus, signal }: { onStatus: (text: string) => void; signal?: AbortSignal },
): Promise<boolean> {
  const wanted = await readLock(join(root, 'package-lock.json'));
  if (!wanted) throw new MillraceError('install_failed', `${root} has no package-lock.json; clone it again.`);
  // npm writes this file at the end, so an interrupted installation does not have the file.
  const installed = await readLock(join(root, 'node_modules/.package-lock.json'));
  if (installed && isComplete(wanted, installed)) return false;
  // Optional packages are not counted, because npm does not fetch those of other platforms, which are most of them.
  const total = Object.values(wanted).filter((one) => !one.optional).length;
  await install(root, total, { onStatus, signal });
  return true;
}

/** File times are not compared: a `git checkout` changes them. */
export function isComplete(wanted: Record<string, Locked>, installed: Record<string, Locked>) {
  return Object.entries(wanted).every(([path, { version, optional, devOptional }]) => {
    const there = installed[path];
    // An optional package may be missing, because it is for another platform.
    return there ? there.version === version : optional === true || devOptional === true;
  });
}

/** @returns null: the file is missing or damaged */
async function readLock(path: string): Promise<Record<string, Locked> | null> {
  try {
    const { packages } = JSON.parse(await readFile(path, 'utf8'));
    delete packages['']; // The repository itself, which only package-lock.json lists.
    return packages;
  } catch {
    return null;
  }
}

async function install(
  root: string,
  total: number,
  { onStatus, signal }: { onStatus: (text: string) => void; signal?: AbortSignal },
) {
  // At this log level npm prints one line for each file that it fetches. It is the only progress that npm reports into a pipe.
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=http'];
  let fetched = 0;
  const describe = (line: string) => {
    if (!line.startsWith('npm http')) return null;
    if (line.includes('.tgz')) fetched += 1;
    return `${Math.min(fetched, total)} of ${total} packages downloaded`;
  };
  const [program, first] = npmProgram();
  try {
    await runShown(program, [...first, ...args], {
      title: 'npm packages',
      onStatus,
      describe,
      cwd: root,
      signal,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT')
      throw new MillraceError('tool_missing', 'npm is not found. It comes with Node.js: https://nodejs.org');
    throw new MillraceError('install_failed', `The npm packages could not be installed.\n${message}`, {
      cause: error,
    });
  }
}

/** @returns program and first arguments of npm: of the npm that runs this process, if there is one */
export function npmProgram(): [string, string[]] {
  const { npm_execpath: path } = process.env;
  return path && basename(path) === 'npm-cli.js' ? [process.execPath, [path]] : ['npm', []];
}
