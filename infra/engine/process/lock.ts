import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { storageArgument } from '../command.js';
import { hasArgument } from './processes.js';

/**
 * The processes that use a data directory, as the supervisor records them in the lock file. The record is valid only while one of the two
 * processes lives.
 *
 * @typedef {object} Holder
 * @property {number} supervisor pid of the supervisor
 * @property {number | null} java pid of the server, a Java process; null before it starts
 * @property {boolean} stopping whether the server is stopping
 */

/** Returns the argument that identifies a server other than Cassandra among all processes. @param {string} dir */
export const homeArgument = (dir) => `-Dmillrace.home=${dir}`;

/** @param {string} dir */
const lockFile = (dir) => join(dir, 'engine.lock');

/** @param {string} dir @returns {Promise<Holder | null>} null: no living process uses the directory */
export async function findLockHolder(dir) {
  const holder = readHolder(dir);
  if (!holder) return null;
  const { supervisor, java } = holder;
  const held =
    (await hasArgument(supervisor, dir)) ||
    (java !== null &&
      ((await hasArgument(java, storageArgument(dir))) || (await hasArgument(java, homeArgument(dir)))));
  return held ? holder : null;
}

/** @param {string} dir @returns {Holder | null} */
function readHolder(dir) {
  try {
    return JSON.parse(readFileSync(lockFile(dir), 'utf8'));
  } catch {
    return null; // There is no lock file, or it is incomplete after a power cut. In both cases no server runs.
  }
}

/**
 * Locks the directory for the calling process.
 *
 * @param {string} dir
 * @returns {Promise<boolean>} false: a living process has the lock
 */
export async function takeLock(dir) {
  if (await findLockHolder(dir)) return false;
  rmSync(lockFile(dir), { force: true });
  try {
    writeFileSync(lockFile(dir), serialize({ supervisor: process.pid, java: null, stopping: false }), {
      flag: 'wx',
    });
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false;
    throw error;
  }
}

/** @param {string} dir @param {Holder} holder */
export function updateLock(dir, holder) {
  const next = `${lockFile(dir)}.new`;
  writeFileSync(next, serialize(holder));
  renameSync(next, lockFile(dir));
}

/** @param {string} dir */
export const releaseLock = (dir) => rmSync(lockFile(dir), { force: true });

/** @param {Holder} holder */
const serialize = (holder) => `${JSON.stringify(holder)}\n`;
