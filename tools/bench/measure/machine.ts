import { readFile } from 'node:fs/promises';
import { cpus, platform, release, totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

interface Observed {
  seconds: number;
  /** CPU seconds by process name */
  cpu: Record<string, number>;
  /** share of the machine's CPU time that the host took away, 0 to 1 */
  steal: number;
  /** share of the machine's CPU time that processes outside the bench used, 0 to 1 */
  others: number;
}

export async function startObserving(pids: Record<string, number>): Promise<() => Promise<Observed>> {
  const before = await look(pids);
  return async () => {
    const after = await look(pids);
    const cpu = Object.fromEntries(
      Object.keys(pids).map((name) => [name, Number(after.cpu[name]) - Number(before.cpu[name])]),
    );
    const ours = Object.values(cpu).reduce((sum, seconds) => sum + seconds, after.bench - before.bench);
    return {
      seconds: (after.at - before.at) / 1000,
      cpu,
      ...machineShares(before.machine, after.machine, ours),
    };
  };
}

/** @returns result of the work, with the shares of the host and of other processes */
export async function withShares<T extends object>(
  pids: Record<string, number>,
  work: () => Promise<T>,
): Promise<T & Pick<Observed, 'steal' | 'others'>> {
  const observed = await startObserving(pids);
  const result = await work();
  const { steal, others } = await observed();
  return { ...result, steal, others };
}

async function look(pids: Record<string, number>) {
  const [stat, ...seconds] = await Promise.all([
    readFile('/proc/stat', 'utf8'),
    ...Object.values(pids).map(cpuSeconds),
  ]);
  const { user, system } = process.cpuUsage();
  return {
    at: performance.now(),
    machine: parseMachineTime(stat),
    cpu: Object.fromEntries(Object.keys(pids).map((name, at) => [name, Number(seconds[at])])),
    bench: (user + system) / 1e6,
  };
}

/** Time since the start of the machine, in hundredths of a second. `stolen`: that the host took for other machines */
type MachineTime = { all: number; idle: number; stolen: number };

export function parseMachineTime(stat: string): MachineTime {
  // Fields: user nice system idle iowait irq softirq steal. The time of guests is already included in user (proc(5)).
  const [user, nice, system, idle, iowait, irq, softirq, steal] = stat
    .slice(0, stat.indexOf('\n'))
    .split(/\s+/)
    .slice(1, 9)
    .map(Number) as number[];
  const used = Number(user) + Number(nice) + Number(system) + Number(irq) + Number(softirq);
  const unused = Number(idle) + Number(iowait);
  return { all: used + unused + Number(steal), idle: unused, stolen: Number(steal) };
}

export function machineShares(
  before: MachineTime,
  after: MachineTime,
  ours: number,
): { steal: number; others: number } {
  const all = after.all - before.all;
  const stolen = after.stolen - before.stolen;
  const used = all - stolen - (after.idle - before.idle);
  return { steal: stolen / all, others: Math.max(0, used - ours * 100) / all };
}

export const describeMachine = () => ({
  processors: cpus().length,
  model: cpus()[0]?.model ?? '',
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  system: `${platform()} ${release()}`,
  node: process.version,
});

/** USER_HZ: the unit of times in /proc on Linux, independent of the kernel's timer frequency. */
const TICKS_PER_SECOND = 100;

const PAGE_BYTES = 4096;

async function cpuSeconds(pid: number): Promise<number> {
  const fields = await statFields(pid);
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** The fields after the process name: `state ppid …` (proc(5)). The name is in brackets and may contain any character. */
async function statFields(pid: number) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** @returns resident memory in MB, by process name */
export async function memoryOf(pids: Record<string, number>): Promise<Record<string, number>> {
  const memory = Object.entries(pids).map(async ([name, pid]) => [name, await residentMb(pid)] as const);
  return Object.fromEntries(await Promise.all(memory));
}

const residentMb = async (pid: number) => (Number((await statFields(pid))[21]) * PAGE_BYTES) / 1e6;

const WATCH_EVERY_MS = 100;

/** @returns `mb`: maximum memory of the process during the work, in MB */
export async function withPeakMemory<T>(pid: number, work: Promise<T>): Promise<{ value: T; mb: number }> {
  let mb = 0;
  let over = false;
  const done = work.finally(() => {
    over = true;
  });
  do {
    mb = Math.max(mb, await residentMb(pid));
    await Promise.race([sleep(WATCH_EVERY_MS), done]);
  } while (!over);
  return { value: await done, mb };
}
