import { isBirth, isDeath } from '../../../schema/sparkplug-topics.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Topic } from '../../../schema/topics.js' */

/**
 * @template T
 * @typedef {{ value: T, before: Place<T> | null, behind: Place<T> | null, left: boolean }} Place
 */

/**
 * First in, first out. An entry can leave from any place, and every step costs the same however many wait. Taking the
 * first from an array moves all the others, 1.3 ms at a million of them, and queues become that long while the database
 * is away. The first of a Set is looked for behind all that were taken before it.
 *
 * @template T
 */
export class Queue {
  /** @type {Place<T> | null} */
  #first = null;
  /** @type {Place<T> | null} */
  #last = null;
  #size = 0;

  /** @param {T} value @returns {() => void} leaves the queue */
  push(value) {
    const place = { value, before: this.#last, behind: null, left: false };
    if (this.#last) this.#last.behind = place;
    else this.#first = place;
    this.#last = place;
    this.#size++;
    return () => this.#leave(place);
  }

  /** @returns {T | undefined} the first, which leaves the queue */
  shift() {
    if (!this.#first) return undefined;
    const { value } = this.#first;
    this.#leave(this.#first);
    return value;
  }

  /** @returns {T | undefined} the first, which stays */
  get first() {
    return this.#first?.value;
  }

  get size() {
    return this.#size;
  }

  /** @param {Place<T>} place no effect on one that has left already */
  #leave(place) {
    if (place.left) return;
    place.left = true;
    this.#size--;
    if (place.before) place.before.behind = place.behind;
    else this.#first = place.behind;
    if (place.behind) place.behind.before = place.before;
    else this.#last = place.before;
    // One that has grown old in memory would keep all behind it alive, one after the other, until the next full
    // collection: 40 MB of them under load.
    place.before = null;
    place.behind = null;
  }
}

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
 * @param {Topic} topic
 * @param {Identity} identity of the device
 * @returns {string}
 */
export const queueKeyOf = ({ sparkplug }, identity) => sparkplug?.node ?? identity.id;

/** @param {Topic} topic @returns {boolean} whether later messages of the device wait for it */
export const isBarrier = ({ kind, sparkplug }) =>
  kind === 'birth' || (sparkplug !== undefined && (isBirth(sparkplug.type) || isDeath(sparkplug.type)));
