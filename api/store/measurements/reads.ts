import { JoinedCalls } from '../../../common/concurrency.js';
import { uuidText } from '../../../schema/ids.js';
import { mergeSeries } from '../../../schema/packed/series.js';
import { HourBlocks } from './hour-blocks.js';
import { allParts, createMessageRows, partsOfSensor } from './rows.js';

/** @import { Series } from '../../../schema/packed/series.js' */
/** @import { Session } from '../sending/session.js' */

/**
 * The lower bound `since` of a read is rounded down to a multiple of this, in ms. Then reads for several sensors of a device have
 * the same bound, and share one request.
 */
const SINCE_STEP_MS = 10_000;

/** @param {Session} session */
export function createSampleReads(session) {
  const rows = createMessageRows(session);
  /**
   * Reads of parts of hours. A device with 200 sensors is read once for all of them, instead of 200 times at once.
   *
   * @type {JoinedCalls<{ blocks: HourBlocks, parts: number[] }>}
   */
  const joined = new JoinedCalls();

  /** @param {Buffer} device 16 bytes @param {number} bucket epoch ms @param {number} part @param {number} since epoch ms */
  const readPart = (device, bucket, part, since) =>
    joined.call(`${device.toString('latin1')} ${bucket} ${part} ${since}`, async () => {
      const { blocks, parts } = await rows.read(device, bucket, part, since);
      return { blocks: new HourBlocks(bucket, blocks), parts };
    });

  /**
   * Reads an hour of a device: part 0, and other parts that the caller chooses.
   *
   * @param {Buffer} device 16 bytes
   * @param {number} bucket epoch ms
   * @param {(parts: number[]) => number[]} choose gets all numbers of parts over which the hour is spread, and returns the
   *   parts to read in addition to part 0
   * @param {number} [since] epoch ms: samples before it may be left out
   * @returns {Promise<HourBlocks[]>} the blocks of each part
   */
  async function partsOf(device, bucket, choose, since = bucket) {
    const from = Math.max(bucket, since - (since % SINCE_STEP_MS));
    const { blocks, parts } = await readPart(device, bucket, 0, from);
    if (parts.length === 0) return [blocks];
    const others = await Promise.all(choose(parts).map((part) => readPart(device, bucket, part, from)));
    return [blocks, ...others.map((other) => other.blocks)];
  }

  return {
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
      const parts = await partsOf(device, bucket, (numbers) => partsOfSensor(numbers, sensor), since);
      return mergeSeries(parts.flatMap((blocks) => blocks.samplesOf(sensor)));
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
      for (const part of await partsOf(device, bucket, allParts)) {
        for (const [key, list] of part.bySensor()) {
          const id = uuidText(Buffer.from(key, 'latin1'));
          sensors.set(id, [...(sensors.get(id) ?? []), ...list.map((series) => series())]);
        }
      }
      return sensors;
    },
  };
}

/** @typedef {ReturnType<typeof createSampleReads>} SampleReads */
