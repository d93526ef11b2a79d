import { rmSync, writeFileSync } from 'node:fs';

/** Debian's packages run this program to ask whether they may start the service that they install. */
const POLICY = '/usr/sbin/policy-rc.d';
/** invoke-rc.d(8): 101 is "action forbidden by policy". */
const FORBID = '#!/bin/sh\n# Written by infra/bootstrap while it installs packages.\nexit 101\n';

/**
 * Runs a task that installs Debian packages, and prevents the packages from starting their services. A Mosquitto that starts by itself
 * would use the port of Millrace's broker. An existing policy of the machine stays.
 */
export async function withoutServices<T>(task: () => Promise<T>, path: string = POLICY): Promise<T> {
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

/** @returns false: the machine has a policy already */
function write(path: string): boolean {
  try {
    writeFileSync(path, FORBID, { flag: 'wx', mode: 0o755 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
