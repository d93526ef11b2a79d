import { pulse, respiration, temperature } from '../signals/body.js';
import { location } from '../signals/location.js';
import { factory, inRounds } from './factory.js';

/** @import { Random } from '../random.js' */
/** @import { Signal } from '../signals/index.js' */

/**
 * A kind of device.
 *
 * @typedef {object} Profile
 * @property {string} device prefix of device names, before the number
 * @property {{ least: number, most: number }} sensors range of the number of sensors of a device, if no count is given
 * @property {(random: Random, count: number | undefined) => NamedSignal[]} sensorsOf returns the signals of a device; without a
 *   count, the number of signals is within `sensors`
 */

/** @typedef {{ name: string, signal: Signal }} NamedSignal */

/** The four types of sensors of a collar. @type {readonly Signal[]} */
export const COLLAR_SIGNALS = [temperature, pulse, location, respiration];

const SENSORS = { least: 1, most: 4 };

/**
 * A collar around the neck of a cow, with some of the four sensor types in any order.
 *
 * @satisfies {Profile}
 */
export const collar = {
  device: 'collar',
  sensors: SENSORS,
  sensorsOf(random, count = SENSORS.least + Math.floor(SENSORS.most * random.uniform())) {
    const order = random.shuffled(COLLAR_SIGNALS);
    return inRounds(
      order.map((signal) => ({ name: signal.type, signal })),
      count,
    );
  },
};

/** @type {Record<string, Profile>} */
export const PROFILES = { collar, factory };
