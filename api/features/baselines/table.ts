import { PROFILE_FLOATS } from './store.ts';

/** A table grows by whole blocks, so that existing floats are never copied. */
const BLOCK_SENSORS = 1024;

/** Larger numbers are reported as 99, because differences beyond it mean nothing. */
export const MOST_SIGMAS = 99;

/** A day of 100,000 sensors takes 32 MB: 192 bytes of floats each, and some 130 of the index. Around midnight there are two. */
export class BaselineTable {
  #index: Map<string, number> = new Map();
  #blocks: Float32Array[] = [];

  get size() {
    return this.#index.size;
  }

  /** @param key `device id/sensor id` @param profile `PROFILE_FLOATS` numbers */
  set(key: string, profile: Float32Array) {
    const number = this.#index.get(key) ?? this.#index.size;
    this.#index.set(key, number);
    const blockNumber = Math.floor(number / BLOCK_SENSORS);
    const block = this.#blocks[blockNumber] ?? new Float32Array(BLOCK_SENSORS * PROFILE_FLOATS);
    this.#blocks[blockNumber] = block;
    block.set(profile, (number % BLOCK_SENSORS) * PROFILE_FLOATS);
  }

  at(key: string, hour: number): { mean: number; deviation: number } | null {
    const number = this.#index.get(key);
    if (number === undefined) return null;
    const place = (number % BLOCK_SENSORS) * PROFILE_FLOATS + 2 * hour;
    const block = this.#blocks[Math.floor(number / BLOCK_SENSORS)] as Float32Array;
    const mean = Number(block[place]);
    return Number.isNaN(mean) ? null : { mean, deviation: Number(block[place + 1]) };
  }

  /** @returns see `sigmasOf`; null: no baseline */
  sigmas(key: string, hour: number, value: number): number | null {
    const baseline = this.at(key, hour);
    return baseline && sigmasOf(baseline, value);
  }
}

/** @param baseline with single-precision floats @returns deviations above (negative: below) the mean, rounded to a tenth */
export function sigmasOf({ mean, deviation }: { mean: number; deviation: number }, value: number): number {
  // The value is rounded like the stored mean, so that a value equal to the mean has no deviation.
  const off = Math.fround(value) - mean;
  if (off === 0) return 0;
  if (deviation === 0) return Math.sign(off) * MOST_SIGMAS;
  const sigmas = Math.max(-MOST_SIGMAS, Math.min(MOST_SIGMAS, off / deviation));
  // `|| 0` replaces -0, which JSON does not have.
  return Math.round(sigmas * 10) / 10 || 0;
}
