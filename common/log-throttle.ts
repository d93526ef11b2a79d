import { LRUCache } from 'lru-cache';

/** In ms. */
const EVERY_MS = 60_000;

/** Beyond it, the throttle forgets the least recently used key. */
const MAX_KEYS = 10_000;

/**
 * The first event is logged at once. Later events give one line per period, with the number of events since the last
 * line. Each key, such as an address, has its own count.
 */
export class LogThrottle {
  #everyMs;
  #clock;
  #keys: LRUCache<string, { loggedAt: number; count: number }> = new LRUCache({ max: MAX_KEYS });

  /** @param options `clock`: ms of a monotonic clock */
  constructor({
    everyMs = EVERY_MS,
    clock = () => performance.now(),
  }: { everyMs?: number; clock?: () => number } = {}) {
    this.#everyMs = everyMs;
    this.#clock = clock;
  }

  /** @returns events since the last line, including this one; 0: do not log */
  count(key: string): number {
    const now = this.#clock();
    const entry = this.#keys.get(key) ?? { loggedAt: Number.NEGATIVE_INFINITY, count: 0 };
    this.#keys.set(key, entry);
    entry.count++;
    if (now - entry.loggedAt < this.#everyMs) return 0;
    const { count } = entry;
    entry.loggedAt = now;
    entry.count = 0;
    return count;
  }
}
