import { isBirth, isDeath } from '../../../schema/sparkplug-topics.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Topic } from '../../../schema/topics.js' */

/**
 * Keeps the order of the messages of each device. They begin in order of arrival and run concurrently. Later messages wait for a
 * barrier. For example, a birth must be committed before the first measurement of a new device, which needs the registration.
 */
export class DeviceQueue {
  /** The newest barrier of each key. @type {Map<string, Promise<unknown>>} */
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
    // The message of a failed barrier reports the failure itself.
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
 * The queue of a device. An edge node and its devices share one sequence, so they share a queue.
 *
 * @param {Topic} topic
 * @param {Identity} identity of the device
 * @returns {string}
 */
export const queueKeyOf = ({ sparkplug }, identity) => sparkplug?.node ?? identity.id;

/** @param {Topic} topic @returns {boolean} whether later messages of the device wait for it */
export const isBarrier = ({ kind, sparkplug }) =>
  kind === 'birth' || (sparkplug !== undefined && (isBirth(sparkplug.type) || isDeath(sparkplug.type)));
