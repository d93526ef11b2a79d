import { MillraceError } from '../../common/errors.js';
import { greaterValue } from '../../schema/packed/series.js';
import { createGroupCommit } from './group-commit.js';

/** @typedef {import('../store/latest.js').LatestUpdate} LatestUpdate */
/** @typedef {import('../store/latest.js').Newest} Newest */
/** @typedef {import('./registry/cache.js').Device} Device */
/** @typedef {import('./registry/cache.js').Sensor} Sensor */

/** The newest sample of a sensor in a message. @typedef {Newest & { sensor: Sensor }} SensorNewest */

/**
 * Keeps `latest`: only a value that is newer than what is known to be committed is written, in group commits.
 *
 * @param {object} parts
 * @param {import('../store/latest.js').Latest} parts.store
 * @param {import('../patience.js').Patience} parts.patience
 * @param {import('pino').Logger} parts.logger
 */
export function createLatestWriter({ store, patience, logger }) {
  /** @param {number} group @param {() => LatestUpdate[]} take @param {() => number} entries */
  async function commit(group, take, entries) {
    try {
      await patience.persist(() => store.write(group, take, entries));
    } catch (error) {
      if (!(error instanceof MillraceError) || error.code !== 'rejected') throw error;
      await oneByOne(group, take());
    }
  }

  /** A device whose values the database refuses does not hold up the others. @param {number} group @param {LatestUpdate[]} updates */
  async function oneByOne(group, updates) {
    for (const update of updates) {
      try {
        await patience.persist(() =>
          store.write(
            group,
            () => [update],
            () => update.newest.size,
          ),
        );
      } catch (error) {
        if (!(error instanceof MillraceError) || error.code !== 'rejected') throw error;
        logger.warn({ reason: error.message }, 'the database refuses the latest values of a device');
      }
    }
  }

  const groups = createGroupCommit({ commit, merge, weigh: ({ newest }) => newest.size });

  return {
    /**
     * @param {Device} device
     * @param {SensorNewest[]} newest of each sensor in a message
     * @returns {Promise<Sensor[]>} settles when all is committed: the sensors that have a newer value now
     */
    async write(device, newest) {
      const news = newest.filter(isNews);
      if (news.length === 0) return [];
      const update = {
        device: device.bytes,
        newest: new Map(news.map(({ sensor, ts, value }) => [sensor.bytes, { ts, value }])),
      };
      await groups.add(device.group, device.bytes, update);
      const changed = [];
      for (const one of news) {
        // Another message can have committed a newer value meanwhile.
        if (!isNews(one)) continue;
        one.sensor.ts = one.ts;
        one.sensor.value = one.value;
        changed.push(one.sensor);
      }
      return changed;
    },
  };
}

/** @typedef {ReturnType<typeof createLatestWriter>} LatestWriter */

/** @param {SensorNewest} newest */
const isNews = ({ sensor, ts, value }) =>
  sensor.ts === null ||
  ts > sensor.ts ||
  (ts === sensor.ts && sensor.value !== null && !Object.is(greaterValue(sensor.value, value), sensor.value));

/** @param {LatestUpdate} waiting is changed @param {LatestUpdate} arriving of the same device @returns {LatestUpdate} */
function merge(waiting, arriving) {
  for (const [sensor, value] of arriving.newest) {
    const known = waiting.newest.get(sensor);
    waiting.newest.set(sensor, known ? newer(known, value) : value);
  }
  return waiting;
}

/** @param {Newest} waiting @param {Newest} arriving */
function newer(waiting, arriving) {
  if (arriving.ts !== waiting.ts) return arriving.ts > waiting.ts ? arriving : waiting;
  return Object.is(greaterValue(waiting.value, arriving.value), arriving.value) ? arriving : waiting;
}
