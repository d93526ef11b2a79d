import type { SensorBytes } from '../../../schema/ids.ts';
import { visitBlock } from '../../../schema/packed/block.ts';
import type { Series } from '../../../schema/packed/series.ts';

/** Searches without an index. An index takes longer than a search, and more memory. */
const SEARCHES = 3;

/** Several callers may share the blocks that a read of one hour of a device found. */
export class HourBlocks {
  #bucket;
  #blocks;
  #index: Map<string, Array<() => Series>> | null = null;
  #searches = 0;

  constructor(bucket: number, blocks: Buffer[]) {
    this.#bucket = bucket;
    this.#blocks = blocks;
  }

  /**
   * @returns one sorted series for each block that has samples of the sensor
   * @throws {RangeError} when one of the Buffers is not an encoded block of samples of one hour
   */
  samplesOf(sensor: SensorBytes): Series[] {
    if (this.#searches++ >= SEARCHES)
      return (this.bySensor().get(sensor.toString('latin1')) ?? []).map((series) => series());
    const found: Series[] = [];
    this.#visit((id, series) => {
      if (sensor.equals(id)) found.push(series());
    });
    return found;
  }

  /** @returns functions that read a block, by sensor id as latin1 text @throws {RangeError} as `samplesOf` */
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
