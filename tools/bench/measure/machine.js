import { readFile } from 'node:fs/promises';
import { cpus, platform, release, totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The resources that were used during a measurement.
 *
 * @typedef {object} Observed
 * @property {number} seconds that it took
 * @property {Record<string, number>} cpu seconds, by process
 * @property {number} steal part of the machine that the host took away, 0 to 1
 * @property {number} others part of the machine that processes outside the bench used, 0 to 1
 */

/**
 * @param {Record<string, number>} pids by the name of the process
 * @returns {Promise<() => Promise<Observed>>} to be called when it is over
 */
export async function startObserving(pids) {
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

/**
 * @template {object} T
 * @param {Record<string, number>} pids by the name of the process
 * @param {() => Promise<T>} work
 * @returns {Promise<T & Pick<Observed, 'steal' | 'others'>>} what the work gave, and what others took of the machine meanwhile
 */
export async function withShares(pids, work) {
  const observed = await startObserving(pids);
  const result = await work();
  const { steal, others } = await observed();
  return { ...result, steal, others };
}

/** @param {Record<string, number>} pids */
async function look(pids) {
  const [machine, ...seconds] = await Promise.all([machineTime(), ...Object.values(pids).map(cpuSeconds)]);
  const { user, system } = process.cpuUsage();
  return {
    at: performance.now(),
    machine,
    cpu: Object.fromEntries(Object.keys(pids).map((name, at) => [name, Number(seconds[at])])),
    bench: (user + system) / 1e6,
  };
}

/**
 * The time of all processors of the machine so far, in hundredths of a second.
 *
 * @typedef {{ all: number, idle: number, stolen: number }} MachineTime `stolen`: taken by the host for other machines
 */

/** @returns {Promise<MachineTime>} */
async function machineTime() {
  return parseMachineTime(await readFile('/proc/stat', 'utf8'));
}

/** @param {string} stat the text of /proc/stat @returns {MachineTime} */
export function parseMachineTime(stat) {
  // user nice system idle iowait irq softirq steal; what guests use is in user already (proc(5)).
  const [user, nice, system, idle, iowait, irq, softirq, steal] = /** @type {number[]} */ (
    stat.slice(0, stat.indexOf('\n')).split(/\s+/).slice(1, 9).map(Number)
  );
  const used = Number(user) + Number(nice) + Number(system) + Number(irq) + Number(softirq);
  const unused = Number(idle) + Number(iowait);
  return { all: used + unused + Number(steal), idle: unused, stolen: Number(steal) };
}

/**
 * @param {MachineTime} before
 * @param {MachineTime} after
 * @param {number} ours CPU seconds of the bench's own processes in between
 * @returns {{ steal: number, others: number }} parts of the machine, 0 to 1: stolen by the host, and used by processes that are not ours
 */
export function machineShares(before, after, ours) {
  const all = after.all - before.all;
  const stolen = after.stolen - before.stolen;
  const used = all - stolen - (after.idle - before.idle);
  return { steal: stolen / all, others: Math.max(0, used - ours * 100) / all };
}

/** The machine of the figures. */
export const describeMachine = () => ({
  processors: cpus().length,
  model: cpus()[0]?.model ?? '',
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  system: `${platform()} ${release()}`,
  node: process.version,
});

/** USER_HZ: the unit of /proc on Linux, whatever the kernel uses. */
const TICKS_PER_SECOND = 100;

const PAGE_BYTES = 4096;

/** @param {number} pid @returns {Promise<number>} CPU seconds, of user and system, that a process has used so far */
async function cpuSeconds(pid) {
  const fields = await statFields(pid);
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** @param {number} pid @returns {Promise<number>} bytes of memory that it has resident */
async function residentBytes(pid) {
  return Number((await statFields(pid))[21]) * PAGE_BYTES;
}

/** The fields after the name in brackets, which may hold anything: `state ppid …` (proc(5)). @param {number} pid */
async function statFields(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/**
 * The memory of a process over time.
 *
 * @param {number} pid
 * @param {number} [everyMs]
 */
export function watchMemory(pid, everyMs = 1000) {
  /** @type {MemoryPoint[]} */
  const points = [];
  const began = performance.now();
  let last = Number.NEGATIVE_INFINITY;
  return {
    points,
    /** Notes the memory of the process, unless it was noted a moment ago. */
    async look() {
      const now = performance.now();
      if (now - last < everyMs) return;
      last = now;
      points.push({ seconds: (now - began) / 1000, mb: (await residentBytes(pid)) / 1e6 });
    },
  };
}

/** @typedef {{ seconds: number, mb: number }} MemoryPoint */

/**
 * @param {MemoryPoint[]} points
 * @returns {number} MB/h by least squares; NaN of fewer than two moments
 */
export function slopeOf(points) {
  const seconds = points.reduce((sum, point) => sum + point.seconds, 0) / points.length;
  const mb = points.reduce((sum, point) => sum + point.mb, 0) / points.length;
  let together = 0;
  let alone = 0;
  for (const point of points) {
    together += (point.seconds - seconds) * (point.mb - mb);
    alone += (point.seconds - seconds) ** 2;
  }
  return alone === 0 ? Number.NaN : (together / alone) * 3600;
}

/** While something is at work, its memory is looked at this often, in ms. */
const WATCH_EVERY_MS = 100;

/**
 * @template T
 * @param {number} pid
 * @param {Promise<T>} work
 * @returns {Promise<{ value: T, mb: number }>} what the work gave, and the most memory that the process had meanwhile
 */
export async function withPeakMemory(pid, work) {
  const { points, look } = watchMemory(pid, 0);
  let over = false;
  const done = work.finally(() => {
    over = true;
  });
  do {
    await look();
    await Promise.race([sleep(WATCH_EVERY_MS), done]);
  } while (!over);
  return { value: await done, mb: Math.max(...points.map(({ mb }) => mb)) };
}
