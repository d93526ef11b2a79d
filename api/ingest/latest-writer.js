import { MillraceError } from '../../common/errors.js';
import { greaterValue } from '../../schema/packed/series.js';
import { createGroupCommit } from './group-commit.js';

/** @typedef {import('../store/latest.js').LatestUpdate} LatestUpdate */
/** @typedef {import('./registry/cache.js').Sensor} Sensor */

/** The newest sample of a sensor in a message. @typedef {{ sensor: Sensor, ts: number, value: number }} Newest `ts` in epoch ms */

/**
 * Keeps `latest`: only a value that is newer than what is known to be committed is written, in group commits.
 *
 * @param {object} parts
 * @param {import('../store/latest.js').Latest} parts.store
 * @param {import('../patience.js').Patience} parts.patience
 * @param {import('pino').Logger} parts.logger
 */
export function createLatestWriter({ store, patience, logger }) {
  /** @param {number} group @param {() => LatestUpdate[]} take */
  async function commit(group, take) {
    try {
      await patience.persist(() => store.write(group, take));
    } catch (error) {
      if (!(error instanceof MillraceError) || error.code !== 'rejected') throw error;
      await oneByOne(group, take());
    }
  }

  /** One value that the database refuses does not hold up the others. @param {number} group @param {LatestUpdate[]} updates */
  async function oneByOne(group, updates) {
    for (const update of updates) {
      try {
        await patience.persist(() => store.write(group, () => [update]));
      } catch (error) {
        if (!(error instanceof MillraceError) || error.code !== 'rejected') throw error;
        logger.warn({ ts: update.ts, reason: error.message }, 'the database refuses a latest value');
      }
    }
  }

  const groups = createGroupCommit({ commit, merge: newer });

  /** @param {import('./registry/cache.js').Device} device @param {Newest} newest */
  const add = (device, { sensor, ts, value }) =>
    groups.add(device.group, sensor, { device: device.bytes, sensor: sensor.bytes, ts, value });

  return {
    /**
     * @param {import('./registry/cache.js').Device} device
     * @param {Newest[]} newest of each sensor that a message speaks of
     * @returns {Promise<Sensor[]>} settles when all is committed: those that have a newer value now
     */
    async write(device, newest) {
      const news = newest.filter(isNews);
      const [only] = news;
      if (news.length === 1 && only) await add(device, only);
      // Updates that leave in one batch wait for one promise, however many sensors a message speaks of.
      else await Promise.all(new Set(news.map((one) => add(device, one))));
      const changed = [];
      for (const one of news) {
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

/** @param {Newest} newest */
const isNews = ({ sensor, ts, value }) =>
  sensor.ts === null ||
  ts > sensor.ts ||
  (ts === sensor.ts && sensor.value !== null && !Object.is(greaterValue(sensor.value, value), sensor.value));

/** @param {LatestUpdate} waiting @param {LatestUpdate} arriving */
function newer(waiting, arriving) {
  if (arriving.ts !== waiting.ts) return arriving.ts > waiting.ts ? arriving : waiting;
  return Object.is(greaterValue(waiting.value, arriving.value), arriving.value) ? arriving : waiting;
}
