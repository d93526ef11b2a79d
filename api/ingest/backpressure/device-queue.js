import { isBirth, isDeath } from '../sparkplug/topic.js';

/**
 * The order of one device's messages: they are begun in order of arrival, and what comes after a birth waits until
 * the birth is committed, so that the first measurement of a newborn device finds it registered.
 */
export function createLanes() {
  /** @type {Map<string, Promise<unknown>>} the birth that the messages of a lane wait for */
  const births = new Map();

  return {
    /**
     * @template T
     * @param {string} lane
     * @param {boolean} isAwaited whether what comes behind it in its lane waits for it
     * @param {() => Promise<T>} work
     * @returns {Promise<T>}
     */
    run(lane, isAwaited, work) {
      const before = births.get(lane);
      // Whether the birth before failed is the business of its own message.
      const done = before ? before.then(work, work) : work();
      if (isAwaited) {
        births.set(lane, done);
        const leave = () => {
          if (births.get(lane) === done) births.delete(lane);
        };
        done.then(leave, leave);
      }
      return done;
    },
  };
}

/** @typedef {ReturnType<typeof createLanes>} Lanes */

/**
 * An edge node and its devices speak in one sequence, so they share a lane.
 *
 * @param {import('../topics.js').Topic} topic
 * @param {import('../../../schema/ids.js').Identity} identity of the device
 * @returns {string} the lane
 */
export const laneOf = ({ sparkplug }, identity) => sparkplug?.node ?? identity.id;

/** @param {import('../topics.js').Topic} topic @returns {boolean} whether what comes behind it in its lane waits for it */
export const isAwaited = ({ kind, sparkplug }) =>
  kind === 'birth' || (sparkplug !== undefined && (isBirth(sparkplug.type) || isDeath(sparkplug.type)));
