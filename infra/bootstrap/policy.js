import { rmSync, writeFileSync } from 'node:fs';

/** Debian's packages ask this program whether they may start the service that they install. */
const POLICY = '/usr/sbin/policy-rc.d';
/** invoke-rc.d(8): 101 is "action forbidden by policy". */
const FORBID = '#!/bin/sh\n# Written by infra/bootstrap while it installs packages.\nexit 101\n';

/**
 * Runs a task during which no package may start its service: a Mosquitto that starts by itself would hold the port
 * of our broker. An existing policy of the machine stays.
 *
 * @template T
 * @param {() => Promise<T>} task
 * @param {string} [path]
 * @returns {Promise<T>}
 */
export async function withoutServices(task, path = POLICY) {
  if (!write(path)) return task();
  const remove = () => rmSync(path, { force: true });
  process.once('exit', remove);
  try {
    return await task();
  } finally {
    process.off('exit', remove);
    remove();
  }
}

/** @param {string} path @returns {boolean} false when there is one already */
function write(path) {
  try {
    writeFileSync(path, FORBID, { flag: 'wx', mode: 0o755 });
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false;
    throw error;
  }
}
