import { visitBlock } from '../../../schema/packed/block.js';

/** @import { Series } from '../../../schema/packed/series.js' */

/** Number of searches without an index. An index takes longer than a search, and more memory. */
const SEARCHES = 3;

/** The blocks of samples that a read of one hour of a device found. Several callers may share them. */
export class HourBlocks {
  #bucket;
  #blocks;
  /** @type {Map<string, Array<() => Series>> | null} the index; null: not needed yet */
  #index = null;
  #searches = 0;

  /** @param {number} bucket epoch ms @param {Buffer[]} blocks */
  constructor(bucket, blocks) {
    this.#bucket = bucket;
    this.#blocks = blocks;
  }

  /**
   * @param {Buffer} sensor 16 bytes
   * @returns {Series[]} samples of the sensor: one sorted series for each block that has some
   * @throws {RangeError} when one of the Buffers is not an encoded block of samples of one hour
   */
  samplesOf(sensor) {
    if (this.#searches++ >= SEARCHES)
      return (this.bySensor().get(sensor.toString('latin1')) ?? []).map((series) => series());
    /** @type {Series[]} */
    const found = [];
    this.#visit((id, series) => {
      if (sensor.equals(id)) found.push(series());
    });
    return found;
  }

  /**
   * @returns {Map<string, Array<() => Series>>} by sensor id as latin1 text: a function for each block, which reads the samples of
   *   the sensor
   * @throws {RangeError} as `samplesOf`
   */
  bySensor() {
    if (this.#index) return this.#index;
    /** @type {Map<string, Array<() => Series>>} */
    const sensors = new Map();
    this.#visit((id, series) => {
      const key = id.toString('latin1');
      const list = sensors.get(key);
      if (list) list.push(series);
      else sensors.set(key, [series]);
    });
    this.#index = sensors;
    return sensors;
  }

  /** @param {Parameters<typeof visitBlock>[2]} visit */
  #visit(visit) {
    for (const blob of this.#blocks) visitBlock(this.#bucket, blob, visit);
  }
}
