import { createHash } from 'node:crypto';

/**
 * A small seeded generator (mulberry32): the same seed and names give the same numbers on every machine. Each signal
 * has one of its own, so that a device more or a sensor less changes nobody else's values.
 *
 * @param {number} seed
 * @param {...string} names what the numbers are for, such as a device and a sensor
 */
export function createRandom(seed, ...names) {
  const digest = createHash('sha256')
    .update(JSON.stringify([seed, ...names]))
    .digest();
  let state = digest.readUInt32LE(0);

  /** @returns {number} evenly spread over [0, 1) */
  function uniform() {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  return {
    uniform,
    /** @param {number} low @param {number} high @returns {number} evenly spread over [low, high) */
    between: (low, high) => low + (high - low) * uniform(),
    /** @returns {number} normally distributed, mean 0, standard deviation 1 (Box-Muller) */
    normal: () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()),
    /** @template T @param {readonly T[]} items @returns {T[]} the same items in another order */
    shuffled(items) {
      const ranked = items.map((item) => ({ item, rank: uniform() }));
      return ranked.sort((a, b) => a.rank - b.rank).map(({ item }) => item);
    },
  };
}

/** @typedef {ReturnType<typeof createRandom>} Random */
