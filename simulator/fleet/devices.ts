import casual from 'casual';
import { PROFILES } from '../profiles/index.js';
import { createRandom } from '../random.js';

/** @import { SensorDescription } from '../announcement.js' */
/** @import { Profile } from '../profiles/index.js' */

const MOST_SITES = 6;
const DEVICES_PER_SITE = 8;

/** @typedef {SensorDescription & { unit: string, range: [number, number], read: () => number }} SimulatedSensor */
/** @typedef {{ name: string, site: string, sensors: SimulatedSensor[] }} SimulatedDevice */

/**
 * Describes simulated devices `collar-0001`, `collar-0002` and so on. The devices stand at a few sites, and each has the sensors
 * of its profile. The same options give the same devices, down to every value that their sensors will read.
 *
 * @param {object} options
 * @param {number} options.devices
 * @param {string} [options.profile] one of `PROFILES`
 * @param {string} [options.device] what they are called before their number; default as the profile has it
 * @param {number} [options.sensors] of each device; default as the profile has it, by the seed
 * @param {number} options.seed
 * @param {number} options.intervalMs between two measurements
 * @returns {SimulatedDevice[]}
 */
export function describeDevices({ devices, profile = 'collar', device, sensors, seed, intervalMs }) {
  const described = /** @type {Profile} */ (PROFILES[profile]);
  const called = device ?? described.device;
  const sites = nameSites(Math.min(MOST_SITES, Math.ceil(devices / DEVICES_PER_SITE)), seed);
  return Array.from({ length: devices }, (_, index) => {
    const name = deviceName(called, index + 1);
    const common = () => createRandom(seed, name, 'device');
    return {
      name,
      site: /** @type {string} */ (sites[index % sites.length]),
      sensors: described.sensorsOf(createRandom(seed, name), sensors).map((sensor) => ({
        name: sensor.name,
        type: sensor.signal.type,
        unit: sensor.signal.unit,
        range: sensor.signal.range,
        intervalMs,
        read: sensor.signal.create(createRandom(seed, name, sensor.name), intervalMs, common),
      })),
    };
  });
}

/** @param {string} called @param {number} number */
export const deviceName = (called, number) => `${called}-${String(number).padStart(4, '0')}`;

/** @param {number} count @param {number} seed @returns {string[]} different town names */
function nameSites(count, seed) {
  casual.seed(seed);
  /** @type {Set<string>} */
  const names = new Set();
  while (names.size < count) names.add(casual.city);
  return [...names];
}
