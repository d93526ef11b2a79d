import { LRUCache } from 'lru-cache';

/** Most ms that a time of receipt is moved: a device may send a thousand messages in one ms before two of them share a time. */
const MAX_AHEAD_MS = 1000;

/** Devices that are remembered, at about 100 bytes each. */
const MAX_DEVICES = 100_000;

/**
 * The times of receipt of messages whose measurements have no time of their own. Two such messages of a device may arrive in the same
 * ms. With the same time, the second would overwrite the first, which is acknowledged. So each gets a ms that no earlier one had.
 * Other ingest processes do not know these times.
 */
export class ReceiptTimes {
  /** By the id of the device: the time of its newest message, epoch ms. @type {LRUCache<string, number>} */
  #newest = new LRUCache({ max: MAX_DEVICES });

  /**
   * @param {string[]} devices ids of the devices that the message has measurements of
   * @param {number} receivedAt epoch ms
   * @returns {number} epoch ms: `receivedAt`, or the next ms that is free for all of them
   */
  next(devices, receivedAt) {
    let free = receivedAt;
    for (const device of devices) free = Math.max(free, (this.#newest.get(device) ?? 0) + 1);
    // Further ahead, the clock was set back, or a device sends more than a message in each ms.
    const next = free > receivedAt + MAX_AHEAD_MS ? receivedAt : free;
    for (const device of devices) this.#newest.set(device, next);
    return next;
  }
}
