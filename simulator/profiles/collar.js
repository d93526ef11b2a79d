import { location } from '../signals/location.js';
import { pulse } from '../signals/pulse.js';
import { respiration } from '../signals/respiration.js';
import { temperature } from '../signals/temperature.js';
import { inRounds } from './names.js';

/** @import { Signal } from '../signals/index.js' */
/** @import { Profile } from './index.js' */

/** The four classic types. @type {readonly Signal[]} */
export const COLLAR_SIGNALS = [temperature, pulse, location, respiration];

const SENSORS = { least: 1, most: 4 };

/**
 * A collar around a neck: some of the four types, in any order.
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
