import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { waitLimitMs } from '../until.ts';

const run = promisify(execFile);

type RunningProcess = { pid: number; parent: number; command: string };

export async function listProcesses(): Promise<RunningProcess[]> {
  return existsSync('/proc/self/stat') ? fromProc() : fromPs();
}

async function fromProc() {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      // A process may end between the listing and the reading.
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      // The second field is the name in brackets, which may contain any character.
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return { pid: Number(pid), parent: Number(parent), command: command.replaceAll('\0', ' '), state };
    }),
  );
  return found.filter(({ state }) => state && state !== 'Z' && state !== 'X');
}

async function fromPs() {
  const { stdout } = await run('ps', ['-axww', '-o', 'pid=,ppid=,state=,command=']);
  return stdout
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line))
    .filter((match) => match !== null && !String(match[3]).startsWith('Z'))
    .map((match) => ({ pid: Number(match?.[1]), parent: Number(match?.[2]), command: String(match?.[4]) }));
}

/** @param root pid @returns the process and its descendants */
export async function processTree(root: number): Promise<RunningProcess[]> {
  const all = await listProcesses();
  const tree = all.filter(({ pid }) => pid === root);
  for (let next = 0; next < tree.length; next += 1) {
    tree.push(...all.filter(({ parent }) => parent === tree[next]?.pid));
  }
  return tree;
}

/**
 * Waits until none of these processes runs. A process id that another program got since does not count.
 * @param options `withinMs`: `waitLimitMs()` by default
 * @returns those that still run at the end
 */
export async function untilGone(
  processes: RunningProcess[],
  { withinMs = waitLimitMs() }: { withinMs?: number } = {},
): Promise<RunningProcess[]> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const now = await listProcesses();
    const left = processes.filter((expected) =>
      now.some(({ pid, command }) => pid === expected.pid && command === expected.command),
    );
    if (left.length === 0 || performance.now() > deadline) return left;
    await sleep(100);
  }
}
