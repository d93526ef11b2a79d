import { LRUCache } from 'lru-cache';

/** Wrong passwords of one address within the time, in ms, after which the right one is not told from them either. */
const MOST = 10;
const WITHIN_MS = 60_000;

/** Addresses that are remembered. */
const MOST_ADDRESSES = 10_000;

/**
 * Counts wrong passwords for each address. Whoever guesses finds out nothing with those beyond the tenth in a minute; for our own
 * programs at the same address that means to wait for as long.
 *
 * @param {{ clock?: () => number }} [options] `clock`: ms of a clock that never goes back
 */
export function createGuesses({ clock = () => performance.now() } = {}) {
  /** @type {LRUCache<string, { wrong: number }>} from the first wrong one on */
  const lately = new LRUCache({
    max: MOST_ADDRESSES,
    ttl: WITHIN_MS,
    ttlResolution: 0,
    perf: { now: clock },
  });

  return {
    /** @param {string} address @returns {boolean} whether it has guessed too often to be answered */
    areSpent: (address) => (lately.get(address)?.wrong ?? 0) >= MOST,

    /** @param {string} address from which a wrong one came */
    count(address) {
      const one = lately.get(address);
      if (one) one.wrong++;
      else lately.set(address, { wrong: 1 });
    },
  };
}

/** @typedef {ReturnType<typeof createGuesses>} Guesses */
