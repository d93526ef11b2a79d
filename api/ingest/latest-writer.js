import { MillraceError } from '../../common/errors.js';
import { greaterValue } from '../../schema/packed/series.js';
import { createGroupCommit } from './group-commit.js';

/** @typedef {import('../store/latest.js').LatestUpdate} LatestUpdate */
/** @typedef {import('./registry/cache.js').Sensor} Sensor */

/**
 * Keeps `latest`: only a value that is newer than what is known to be committed is written, in group commits.
 *
 * @param {object} parts
 * @param {import('../store/latest.js').Latest} parts.store
 * @param {import('./patience.js').Patience} parts.patience
 * @param {import('pino').Logger} parts.logger
 */
export function createLatestWriter({ store, patience, logger }) {
  /** @param {number} group @param {LatestUpdate[]} updates */
  async function commit(group, updates) {
    try {
      await patience.persist(() => store.write(group, updates));
    } catch (error) {
      if (!(error instanceof MillraceError) || error.code !== 'rejected') throw error;
      await oneByOne(group, updates);
    }
  }

  /** One value that the database refuses does not hold up the others. @param {number} group @param {LatestUpdate[]} updates */
  async function oneByOne(group, updates) {
    for (const update of updates) {
      try {
        await patience.persist(() => store.write(group, [update]));
      } catch (error) {
        if (!(error instanceof MillraceError) || error.code !== 'rejected') throw error;
        logger.warn({ ts: update.ts, reason: error.message }, 'the database refuses a latest value');
      }
    }
  }

  const groups = createGroupCommit({ commit, merge: newer });

  return {
    /**
     * @param {import('./registry/cache.js').Device} device
     * @param {Sensor} sensor
     * @param {number} ts epoch ms
     * @param {number} value
     * @returns {Promise<boolean>} settles when it is committed: whether the sensor has a newer value now
     */
    async write(device, sensor, ts, value) {
      if (!isNews(sensor, ts, value)) return false;
      await groups.add(device.group, sensor, { device: device.bytes, sensor: sensor.bytes, ts, value });
      if (!isNews(sensor, ts, value)) return false;
      sensor.ts = ts;
      sensor.value = value;
      return true;
    },
  };
}

/** @typedef {ReturnType<typeof createLatestWriter>} LatestWriter */

/** @param {Sensor} sensor @param {number} ts @param {number} value */
const isNews = (sensor, ts, value) =>
  sensor.ts === null ||
  ts > sensor.ts ||
  (ts === sensor.ts && sensor.value !== null && !Object.is(greaterValue(sensor.value, value), sensor.value));

/** @param {LatestUpdate} waiting @param {LatestUpdate} arriving */
function newer(waiting, arriving) {
  if (arriving.ts !== waiting.ts) return arriving.ts > waiting.ts ? arriving : waiting;
  return Object.is(greaterValue(waiting.value, arriving.value), arriving.value) ? arriving : waiting;
}
