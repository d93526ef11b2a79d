import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

const GONE_MS = 2000;

/** The pid alone is not enough, because the system reuses pids. */
export async function hasArgument(pid: number, argument: string): Promise<boolean> {
  if (existsSync('/proc/self/cmdline')) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return line.split('\0').includes(argument);
  }
  // Systems without /proc, such as macOS, have `ps`, which prints the arguments in one line.
  const { stdout } = await run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(() => ({
    stdout: '',
  }));
  return stdout.includes(argument);
}

/** @param pid negative: a process group @param signal 0: only checks @returns false: the process or group does not exist any more */
export function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** Also waits until the ports of the group are free. */
export async function killGroup(leader: number) {
  const deadline = Date.now() + GONE_MS;
  // In some containers no process reaps zombies, so the group never ends. Therefore the loop has a deadline.
  while (signalProcess(-leader, 'SIGKILL') && Date.now() < deadline) await sleep(20);
}
