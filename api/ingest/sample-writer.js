import { MillraceError } from '../../common/errors.js';

/** @typedef {import('./registry/cache.js').Device} Device */
/** @typedef {import('../../schema/packed/series.js').Numbers} Numbers */

/**
 * The samples of one sensor in one message, ready to be written: sorted, one per instant.
 *
 * @typedef {{ ref: string, known: import('./registry/cache.js').Sensor, sensor: Buffer, times: Numbers, values: Numbers }} Series
 */

/** @callback OnRejected @param {string} ref the sensor, as the message has it @param {number} ts epoch ms */

/**
 * Commits samples: one batch for each hour that a message touches. What the database refuses is tried sample by
 * sample, so that one poisonous value takes nothing else with it.
 *
 * @param {object} parts
 * @param {import('../store/measurements.js').Measurements} parts.store
 * @param {import('./patience.js').Patience} parts.patience
 * @param {import('./partition-watch.js').PartitionWatch} parts.partitions
 */
export function createSampleWriter({ store, patience, partitions }) {
  /**
   * @param {import('../store/measurements.js').HourWrite} hour
   * @returns {Promise<boolean>} false: the database refuses it
   */
  async function commit(hour) {
    try {
      await patience.persist(() => store.commit(hour));
      return true;
    } catch (error) {
      if (error instanceof MillraceError && error.code === 'rejected') return false;
      throw error;
    }
  }

  /** @param {Device} device @param {Series[]} series @param {number} bucket @param {OnRejected} onRejected */
  async function oneByOne(device, series, bucket, onRejected) {
    for (const { ref, sensor, times, values } of series) {
      for (let at = 0; at < times.length; at++) {
        const ts = /** @type {number} */ (times[at]);
        const single = { sensor, times: [ts], values: [/** @type {number} */ (values[at])] };
        const [hour] = store.plan(device.bytes, [single]);
        if (hour?.bucket === bucket && !(await commit(hour))) onRejected(ref, ts);
      }
    }
  }

  return {
    /**
     * @param {Device} device
     * @param {Series[]} series
     * @param {OnRejected} onRejected told of each sample that the database refuses
     * @returns {Promise<void>} settles when all others are committed
     */
    async write(device, series, onRejected) {
      await Promise.all(
        store.plan(device.bytes, series).map(async (hour) => {
          partitions.note(device, hour);
          if (!(await commit(hour))) await oneByOne(device, series, hour.bucket, onRejected);
        }),
      );
    },
  };
}

/** @typedef {ReturnType<typeof createSampleWriter>} SampleWriter */
