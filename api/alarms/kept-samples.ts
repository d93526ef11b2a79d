import { once } from 'node:events';
import { forEachConcurrently } from '../../common/concurrency.ts';
import type { WatchedDevice } from './watched-device.ts';

/** Limit in ms of a read of the newest samples. When a process starts, devices cannot connect before the read or this time ends. */
const READ_WITHIN_MS = 3000;

/** Limit of groups that are read concurrently. */
const READS_AT_ONCE = 16;

/**
 * Time in ms after which the kept samples of a group are dropped if another process holds its lease. The lease of a process that
 * crashed expires earlier.
 */
const KEEP_MS = 30_000;

/**
 * The newest samples of the groups of devices whose leases this process does not hold. When this process takes the lease of a
 * group, it compares these samples with the newest samples of that time. So it finds a silence that began and ended before the
 * lease.
 */
export class KeptSamples {
  #readWithinMs;
  /** Kept devices by group number. `until`: epoch ms. */
  #groups: Map<number, { devices: Map<string, WatchedDevice>; until: number }> = new Map();

  /** @param options `readWithinMs`: longest time of a read of all groups */
  constructor({ readWithinMs = READ_WITHIN_MS }: { readWithinMs?: number } = {}) {
    this.#readWithinMs = readWithinMs;
  }

  /**
   * Reads groups, and keeps the groups that arrive in time. A slow database does not delay the caller any longer.
   * @param read never rejects; undefined: the group cannot be read
   */
  async readAll(
    groups: number[],
    read: (group: number, signal: AbortSignal) => Promise<Map<string, WatchedDevice> | undefined>,
  ) {
    const ending = new AbortController();
    const { signal } = ending;
    const isLate = once(signal, 'abort');
    const timer = setTimeout(() => ending.abort(), this.#readWithinMs);
    const reads = forEachConcurrently(READS_AT_ONCE, groups, async (group) => {
      if (signal.aborted) return;
      const devices = await read(group, signal);
      // After the time limit this process may hold the lease of the group already. Then its devices in memory are newer than
      // this read.
      if (devices && !signal.aborted) this.keep(group, devices);
    });
    await Promise.race([reads, isLate]);
    clearTimeout(timer);
  }

  /** @param devices with their newest samples */
  keep(group: number, devices: Map<string, WatchedDevice>) {
    this.#groups.set(group, { devices, until: performance.now() + KEEP_MS });
  }

  has(group: number) {
    return this.#groups.has(group);
  }

  /** Removes and returns the devices of a group, because this process holds its lease now. */
  take(group: number) {
    const kept = this.#groups.get(group);
    this.#groups.delete(group);
    return kept?.devices;
  }

  /** Drops the kept samples of a group whose lease another process holds, unless the samples are new. */
  dropOld(group: number) {
    const kept = this.#groups.get(group);
    if (kept && kept.until < performance.now()) this.#groups.delete(group);
  }
}
