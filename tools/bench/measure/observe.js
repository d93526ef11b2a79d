import { machineShares, machineTime } from './machine.js';
import { cpuSeconds } from './processes.js';

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
 * @param {Record<string, number>} pids by what the process is
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
