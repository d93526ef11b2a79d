import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { storageArgument } from '../command.ts';
import { hasArgument } from './processes.ts';

/** The content of the lock file. It is valid only while one of the two processes lives. */
export interface Holder {
  supervisor: number;
  java: number | null;
  stopping: boolean;
}

/** Identifies a server other than Cassandra among all processes. */
export const homeArgument = (dir: string) => `-Dmillrace.home=${dir}`;

const lockFile = (dir: string) => join(dir, 'engine.lock');

/** @returns null: no living process uses the directory */
export async function findLockHolder(dir: string): Promise<Holder | null> {
  const holder = readHolder(dir);
  if (!holder) return null;
  const { supervisor, java } = holder;
  const held =
    (await hasArgument(supervisor, dir)) ||
    (java !== null &&
      ((await hasArgument(java, storageArgument(dir))) || (await hasArgument(java, homeArgument(dir)))));
  return held ? holder : null;
}

function readHolder(dir: string): Holder | null {
  try {
    return JSON.parse(readFileSync(lockFile(dir), 'utf8'));
  } catch {
    return null; // There is no lock file, or it is incomplete after a power cut. In both cases no server runs.
  }
}

/** @returns false: a living process has the lock */
export async function takeLock(dir: string): Promise<boolean> {
  if (await findLockHolder(dir)) return false;
  rmSync(lockFile(dir), { force: true });
  try {
    writeFileSync(lockFile(dir), serialize({ supervisor: process.pid, java: null, stopping: false }), {
      flag: 'wx',
    });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

export function updateLock(dir: string, holder: Holder) {
  const next = `${lockFile(dir)}.new`;
  writeFileSync(next, serialize(holder));
  renameSync(next, lockFile(dir));
}

export const releaseLock = (dir: string) => rmSync(lockFile(dir), { force: true });

const serialize = (holder: Holder) => `${JSON.stringify(holder)}\n`;
