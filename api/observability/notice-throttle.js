import { LRUCache } from 'lru-cache';

/** Between two lines about the same, in ms. */
const EVERY_MS = 60_000;

/** Of so many it is known when they were told of last. */
const MOST_REMEMBERED = 10_000;

/**
 * Says when the log is to tell of something that happens again and again: at once, and then as often as it may, each time with how often
 * it has happened meanwhile.
 *
 * @param {{ everyMs?: number }} [options] between two lines about the same, in ms
 */
export function createNoticeThrottle({ everyMs = EVERY_MS } = {}) {
  /** @type {LRUCache<string, { toldAt: number, count: number }>} */
  const lately = new LRUCache({ max: MOST_REMEMBERED });

  return {
    /**
     * @param {string} of what, and of whom
     * @returns {number} how often it happened since it was told last, this time too; 0: it need not be told
     */
    count(of) {
      const now = performance.now();
      const one = lately.get(of) ?? { toldAt: Number.NEGATIVE_INFINITY, count: 0 };
      lately.set(of, one);
      one.count++;
      if (now - one.toldAt < everyMs) return 0;
      const { count } = one;
      one.toldAt = now;
      one.count = 0;
      return count;
    },
  };
}

/** @typedef {ReturnType<typeof createNoticeThrottle>} Occurrences */
