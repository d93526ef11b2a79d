import { visitBlock } from '../../../schema/packed/block.ts';
import type { Series } from '../../../schema/packed/series.ts';

/** Number of searches without an index. An index takes longer than a search, and more memory. */
const SEARCHES = 3;

/** The blocks of samples that a read of one hour of a device found. Several callers may share them. */
export class HourBlocks {
  #bucket;
  #blocks;
  /** the index; null: not needed yet */
  #index: Map<string, Array<() => Series>> | null = null;
  #searches = 0;

  /** @param bucket epoch ms */
  constructor(bucket: number, blocks: Buffer[]) {
    this.#bucket = bucket;
    this.#blocks = blocks;
  }

  /**
   * @param sensor 16 bytes
   * @returns samples of the sensor: one sorted series for each block that has some
   * @throws {RangeError} when one of the Buffers is not an encoded block of samples of one hour
   */
  samplesOf(sensor: Buffer): Series[] {
    if (this.#searches++ >= SEARCHES)
      return (this.bySensor().get(sensor.toString('latin1')) ?? []).map((series) => series());
    const found: Series[] = [];
    this.#visit((id, series) => {
      if (sensor.equals(id)) found.push(series());
    });
    return found;
  }

  /**
   * @returns by sensor id as latin1 text: a function for each block, which reads the samples of the sensor
   * @throws {RangeError} as `samplesOf`
   */
  bySensor(): Map<string, Array<() => Series>> {
    if (this.#index) return this.#index;
    const sensors: Map<string, Array<() => Series>> = new Map();
    this.#visit((id, series) => {
      const key = id.toString('latin1');
      const list = sensors.get(key);
      if (list) list.push(series);
      else sensors.set(key, [series]);
    });
    this.#index = sensors;
    return sensors;
  }

  #visit(visit: Parameters<typeof visitBlock>[2]) {
    for (const blob of this.#blocks) visitBlock(this.#bucket, blob, visit);
  }
}
