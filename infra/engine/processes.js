import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Whether a living process was started with this argument. A pid alone says little: numbers are used again.
 *
 * @param {number} pid
 * @param {string} argument
 * @returns {Promise<boolean>}
 */
export async function hasArgument(pid, argument) {
  if (existsSync('/proc/self/cmdline')) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return line.split('\0').includes(argument);
  }
  // No /proc, as on macOS: ps prints the arguments in one line.
  const { stdout } = await run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(() => ({
    stdout: '',
  }));
  return stdout.includes(argument);
}

/**
 * Sends a signal to a process, or to a process group where `pid` is negative; one that is gone is fine.
 *
 * @param {number} pid
 * @param {NodeJS.Signals} signal
 */
export function signalProcess(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error;
  }
}
