import { readFile } from 'node:fs/promises';
import { cpus, platform, release, totalmem } from 'node:os';

/**
 * The time of all processors of the machine so far, in hundredths of a second.
 *
 * @typedef {{ all: number, idle: number, stolen: number }} MachineTime `stolen`: taken by the host for other machines
 */

/** @returns {Promise<MachineTime>} */
export async function machineTime() {
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
