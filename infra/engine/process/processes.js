import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

const GONE_MS = 2000;

/**
 * Checks whether a running process was started with this argument. A pid alone is no proof, because numbers are reused.
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
 * Sends a signal to a process, or to a process group where `pid` is negative.
 *
 * @param {number} pid
 * @param {NodeJS.Signals | 0} signal 0: only asks
 * @returns {boolean} false: there is none any more
 */
export function signalProcess(pid, signal) {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ESRCH') return false;
    throw error;
  }
}

/**
 * Kills the rest of a process group, and waits until it has ended and its ports are free.
 *
 * @param {number} leader pid
 */
export async function killGroup(leader) {
  const deadline = Date.now() + GONE_MS;
  // In some containers no process collects zombies, and the group never ends. So there is a deadline.
  while (signalProcess(-leader, 'SIGKILL') && Date.now() < deadline) await sleep(20);
}
