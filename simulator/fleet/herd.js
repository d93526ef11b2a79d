import casual from 'casual';
import { createRandom } from '../random.js';
import { SIGNALS } from '../signals/index.js';

const MOST_SITES = 6;
const DEVICES_PER_SITE = 8;

/** @typedef {import('../device.js').SensorDescription & { unit: string, read: () => number }} SimulatedSensor */
/** @typedef {{ name: string, site: string, sensors: SimulatedSensor[] }} SimulatedDevice */

/**
 * Who there is: devices `collar-0001`, `collar-0002` ... at a handful of sites, each with sensors of the four types.
 * The same options describe the same herd, down to every value that its sensors will read.
 *
 * @param {object} options
 * @param {number} options.devices
 * @param {number} [options.sensors] of each device; default 1 to 4, by the seed
 * @param {number} options.seed
 * @param {number} options.intervalMs between two measurements
 * @returns {SimulatedDevice[]}
 */
export function describeHerd({ devices, sensors, seed, intervalMs }) {
  const sites = nameSites(Math.min(MOST_SITES, Math.ceil(devices / DEVICES_PER_SITE)), seed);
  return Array.from({ length: devices }, (_, index) => {
    const name = `collar-${String(index + 1).padStart(4, '0')}`;
    const random = createRandom(seed, name);
    const count = sensors ?? 1 + Math.floor(4 * random.uniform());
    return {
      name,
      site: /** @type {string} */ (sites[index % sites.length]),
      sensors: describeSensors({ device: name, count, random, seed, intervalMs }),
    };
  });
}

/** @param {{ device: string, count: number, random: import('../random.js').Random, seed: number, intervalMs: number }} options */
function describeSensors({ device, count, random, seed, intervalMs }) {
  const order = random.shuffled(SIGNALS);
  return Array.from({ length: count }, (_, index) => {
    const signal = /** @type {typeof SIGNALS[number]} */ (order[index % order.length]);
    const round = Math.floor(index / order.length);
    const name = round === 0 ? signal.type : `${signal.type}-${round + 1}`;
    return {
      name,
      type: signal.type,
      unit: signal.unit,
      intervalMs,
      read: signal.create(createRandom(seed, device, name), intervalMs),
    };
  });
}

/** @param {number} count @param {number} seed @returns {string[]} different town names */
function nameSites(count, seed) {
  casual.seed(seed);
  /** @type {Set<string>} */
  const names = new Set();
  while (names.size < count) names.add(casual.city);
  return [...names];
}
