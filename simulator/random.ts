import { createHash } from 'node:crypto';

/**
 * Mulberry32. It is a class because a fleet has a generator for each sensor. Shared methods instead of closures save a third of the
 * kilobyte that a sensor takes.
 */
export class Random {
  #state;

  /** @param state 32 bits */
  constructor(state: number) {
    this.#state = state;
  }

  uniform(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    const state = this.#state;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** In [low, high). */
  between(low: number, high: number): number {
    return low + (high - low) * this.uniform();
  }

  /** Mean 0, standard deviation 1 (Box-Muller). */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.uniform())) * Math.cos(2 * Math.PI * this.uniform());
  }

  shuffled<T>(items: readonly T[]): T[] {
    const ranked = items.map((item) => ({ item, rank: this.uniform() }));
    return ranked.sort((a, b) => a.rank - b.rank).map(({ item }) => item);
  }
}

/**
 * The same seed and names give the same numbers on every machine. Each signal has its own generator, so that an added device or a removed
 * sensor changes no other values.
 * @param names purpose of the numbers, such as the names of a device and a sensor
 */
export function createRandom(seed: number, ...names: string[]) {
  const digest = createHash('sha256')
    .update(JSON.stringify([seed, ...names]))
    .digest();
  return new Random(digest.readUInt32LE(0));
}
