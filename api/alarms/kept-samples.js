import { once } from 'node:events';
import { forEachConcurrently } from '../../common/concurrency.js';

/** @import { WatchedDevice } from './watched-device.js' */

/** Longest time in ms that a process reads the newest samples. At its start, devices wait for the end of this time. */
const READ_WITHIN_MS = 3000;

/** Groups that are read at once. */
const READS_AT_ONCE = 16;

/**
 * Time in ms after which kept samples of a group are dropped if another process holds its lease. The lease of
 * a process that died expires before.
 */
const KEEP_MS = 30_000;

/**
 * The newest samples of the groups whose leases this process does not hold. The next lease of a group takes
 * them over. A silence that began and ended before that lease lies between them and the newest samples then.
 */
export class KeptSamples {
  #readWithinMs;
  /** By group. @type {Map<number, { devices: Map<string, WatchedDevice>, until: number }>} */
  #groups = new Map();

  /** @param {{ readWithinMs?: number }} [options] `readWithinMs`: longest time of a read of all groups */
  constructor({ readWithinMs = READ_WITHIN_MS } = {}) {
    this.#readWithinMs = readWithinMs;
  }

  /**
   * Reads and keeps groups, as far as they arrive in time. A slow database does not delay the caller further.
   *
   * @param {number[]} groups
   * @param {(group: number, signal: AbortSignal) => Promise<Map<string, WatchedDevice> | undefined>} read never
   *   rejects; undefined: the group cannot be read
   */
  async readAll(groups, read) {
    const ending = new AbortController();
    const { signal } = ending;
    const isLate = once(signal, 'abort');
    const timer = setTimeout(() => ending.abort(), this.#readWithinMs);
    const reads = forEachConcurrently(READS_AT_ONCE, groups, async (group) => {
      if (signal.aborted) return;
      const devices = await read(group, signal);
      // After the time the group may have a lease already, and then its devices are newer.
      if (devices && !signal.aborted) this.keep(group, devices);
    });
    await Promise.race([reads, isLate]);
    clearTimeout(timer);
  }

  /** @param {number} group @param {Map<string, WatchedDevice>} devices with their newest samples */
  keep(group, devices) {
    this.#groups.set(group, { devices, until: performance.now() + KEEP_MS });
  }

  /** @param {number} group */
  has(group) {
    return this.#groups.has(group);
  }

  /** Removes and returns the devices of a group, because this process holds its lease now. @param {number} group */
  take(group) {
    const kept = this.#groups.get(group);
    this.#groups.delete(group);
    return kept?.devices;
  }

  /** Drops the samples of a group whose lease another process holds, unless they are new. @param {number} group */
  dropOld(group) {
    const kept = this.#groups.get(group);
    if (kept && kept.until < performance.now()) this.#groups.delete(group);
  }
}
