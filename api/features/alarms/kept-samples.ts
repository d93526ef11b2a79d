import { once } from 'node:events';
import { forEachConcurrently } from '../../../common/concurrency.ts';
import type { WatchedDevice } from './watched-device.ts';

/** In ms. When a process starts, devices cannot connect before the read or this time ends. */
const READ_WITHIN_MS = 3000;

const READS_AT_ONCE = 16;

/** Time in ms after which kept samples are dropped if another process holds the lease. The lease of a crashed process expires earlier. */
const KEEP_MS = 30_000;

/**
 * Samples of groups whose leases this process does not hold. At the next lease it compares them with the newest samples. So it finds a
 * silence that began and ended before the lease.
 */
export class KeptSamples {
  #readWithinMs;
  #groups: Map<number, { devices: Map<string, WatchedDevice>; until: number }> = new Map();

  constructor({ readWithinMs = READ_WITHIN_MS }: { readWithinMs?: number } = {}) {
    this.#readWithinMs = readWithinMs;
  }

  /** Keeps the groups that arrive in time, so that a slow database does not delay the caller. `read` never rejects. */
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
      // After the time limit this process may hold the lease of the group already. Then its devices in memory are newer than this read.
      if (devices && !signal.aborted) this.keep(group, devices);
    });
    await Promise.race([reads, isLate]);
    clearTimeout(timer);
  }

  keep(group: number, devices: Map<string, WatchedDevice>) {
    this.#groups.set(group, { devices, until: performance.now() + KEEP_MS });
  }

  has(group: number) {
    return this.#groups.has(group);
  }

  take(group: number) {
    const kept = this.#groups.get(group);
    this.#groups.delete(group);
    return kept?.devices;
  }

  /** Keeps samples that are new even if another process holds the lease of the group. */
  dropOld(group: number) {
    const kept = this.#groups.get(group);
    if (kept && kept.until < performance.now()) this.#groups.delete(group);
  }
}
