/** @import { Flag } from '../../common/flags.js' */

/** The flags of `npm run dev`. @satisfies {Record<string, Flag>} */
export const DEV_FLAGS = {
  devices: { type: 'integer', help: 'simulated devices', fallback: 25, min: 0 },
  sensors: { type: 'integer', help: 'sensors of each device (1 to 4, mixed)', min: 1 },
  interval: { type: 'duration', help: 'time between two measurements', fallback: 1000, min: 1 },
  batch: { type: 'duration', help: 'time between two messages of a device', fallback: 10_000, min: 1 },
  duration: { type: 'duration', help: 'stop everything after this time', min: 1 },
  seed: { type: 'integer', help: 'the same seed gives the same fleet', fallback: 1 },
  'no-simulator': { type: 'switch', help: 'no simulated devices' },
  fresh: { type: 'switch', help: "begin without data: empties DATA_DIR, never a cluster's" },
};

/**
 * @typedef {object} DevFlags durations in ms
 * @property {number} devices
 * @property {number | undefined} sensors
 * @property {number} interval
 * @property {number} batch
 * @property {number | undefined} duration
 * @property {number} seed
 * @property {boolean | undefined} no-simulator
 * @property {boolean | undefined} fresh
 */

/**
 * @param {DevFlags} flags
 * @param {string} broker URL
 * @returns {string[]} the command line of the simulator
 */
export function simulatorArguments({ devices, sensors, interval, batch, duration, seed }, broker) {
  const given = {
    broker,
    devices,
    sensors,
    interval: `${interval}ms`,
    batch: `${batch}ms`,
    duration: duration && `${duration}ms`,
    seed,
  };
  return Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  );
}
