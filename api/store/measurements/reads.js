import { uuidText } from '../../../schema/ids.js';
import { visitBlock } from '../../../schema/packed/block.js';
import { mergeSeries } from '../../../schema/packed/series.js';
import { allParts, createMessageRows, partsOfSensor, samplesOf } from './rows.js';

/** @import { Series } from '../../../schema/packed/series.js' */
/** @import { Session } from '../sending/session.js' */

/** @param {Session} session */
export function createSampleReads(session) {
  const rows = createMessageRows(session);

  /**
   * Reads the blocks of an hour of a device from part 0, and from other parts that the caller chooses.
   *
   * @param {Buffer} device 16 bytes
   * @param {number} bucket epoch ms
   * @param {(parts: number[]) => number[]} choose gets all numbers of parts over which the hour is spread, and returns the
   *   parts to read in addition to part 0
   * @param {number} [since] epoch ms: samples before it may be left out
   * @returns {Promise<Buffer[]>} blocks
   */
  async function blocksOf(device, bucket, choose, since) {
    const { blocks, parts } = await rows.read(device, bucket, 0, since);
    if (parts.length === 0) return blocks;
    const others = await Promise.all(choose(parts).map((part) => rows.read(device, bucket, part, since)));
    return [...blocks, ...others.flatMap((other) => other.blocks)];
  }

  return {
    newest: rows.newest,

    /**
     * Reads all samples of a sensor in one hour, merged.
     *
     * @param {Buffer} device 16 bytes
     * @param {Buffer} sensor 16 bytes
     * @param {number} bucket epoch ms
     * @param {number} [since] epoch ms: samples before it may be left out
     * @returns {Promise<Series>} samples in order of time
     */
    async readHour(device, sensor, bucket, since) {
      const blocks = await blocksOf(device, bucket, (parts) => partsOfSensor(parts, sensor), since);
      return mergeSeries(samplesOf(bucket, blocks, sensor));
    },

    /**
     * Reads all samples of a device in one hour, as they are stored. A sample in two rows is returned twice.
     *
     * @param {Buffer} device 16 bytes
     * @param {number} bucket epoch ms
     * @returns {Promise<Map<string, Series[]>>} by sensor id: one series for each stored row
     */
    async readDeviceHour(device, bucket) {
      /** @type {Map<string, Series[]>} */
      const sensors = new Map();
      for (const blob of await blocksOf(device, bucket, allParts)) {
        visitBlock(bucket, blob, (sensor, series) => {
          const id = uuidText(sensor);
          const list = sensors.get(id);
          if (list) list.push(series());
          else sensors.set(id, [series()]);
        });
      }
      return sensors;
    },
  };
}

/** @typedef {ReturnType<typeof createSampleReads>} SampleReads */
