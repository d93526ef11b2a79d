import { isBirth, isDeath } from '../sparkplug/topic.js';

/**
 * The order of one device's messages. They begin in order of arrival, and run at the same time. A barrier is a message
 * that the later ones wait for: a birth has to be committed first, so that the first measurement of a new device finds
 * it registered.
 */
export class DeviceQueue {
  /** The newest barrier of each key that has one. @type {Map<string, Promise<unknown>>} */
  #barriers = new Map();

  /**
   * @template T
   * @param {string} key
   * @param {boolean} isBarrier
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  run(key, isBarrier, work) {
    const before = this.#barriers.get(key);
    // A barrier that fails is reported by its own message.
    const result = before ? before.then(work, work) : work();
    if (isBarrier) {
      this.#barriers.set(key, result);
      const leave = () => {
        if (this.#barriers.get(key) === result) this.#barriers.delete(key);
      };
      result.then(leave, leave);
    }
    return result;
  }
}

/**
 * An edge node and its devices share one sequence, so they share a queue.
 *
 * @param {import('../topics.js').Topic} topic
 * @param {import('../../../schema/ids.js').Identity} identity of the device
 * @returns {string}
 */
export const queueKeyOf = ({ sparkplug }, identity) => sparkplug?.node ?? identity.id;

/** @param {import('../topics.js').Topic} topic @returns {boolean} whether later messages of the device wait for it */
export const isBarrier = ({ kind, sparkplug }) =>
  kind === 'birth' || (sparkplug !== undefined && (isBirth(sparkplug.type) || isDeath(sparkplug.type)));
