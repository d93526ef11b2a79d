import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { storageArgument } from '../command.js';
import { hasArgument } from './processes.js';

/**
 * The user of a data directory, as the supervisor records it. A record is valid only while one of the two processes lives.
 *
 * @typedef {object} Holder
 * @property {number} supervisor pid
 * @property {number | null} java pid, once started
 * @property {boolean} stopping it is on its way out
 */

/** The argument that identifies a server other than Cassandra among all processes. @param {string} dir */
export const homeArgument = (dir) => `-Dmillrace.home=${dir}`;

/** @param {string} dir */
const lockFile = (dir) => join(dir, 'engine.lock');

/** @param {string} dir @returns {Promise<Holder | null>} null when no living process holds the directory */
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
    return null; // No lock, or half a file after a power cut: no process of ours can be running.
  }
}

/**
 * Takes the directory, for the process that calls.
 *
 * @param {string} dir
 * @returns {Promise<boolean>} false when a living process holds it
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
