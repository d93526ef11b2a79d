import { createLookUp } from '../../api/history/reading/hours.js';
import { mergeSeries } from '../../schema/packed/series.js';
import { HOUR_MS } from '../../schema/rules.js';

/** @import { Hour, Sensor } from '../../api/history/reading/hours.js' */
/** @import { Store } from '../../api/store/index.js' */
/** @import { Series } from '../../schema/packed/series.js' */

/** Where samples and latest values are. @typedef {Pick<Store, 'samples' | 'packed' | 'packProgress' | 'fleet'>} Stored */

/**
 * What is stored of a device, read as every reader does: packed hours from history, all others from batches and history.
 *
 * @param {Stored} store
 */
export function createStoredHours(store) {
  const lookUp = createLookUp({
    packedUntil: async (group) => (await store.packProgress.read(group)).packedUntil,
    readStatistics: store.packed.readStatistics,
  });

  /** @param {Sensor} sensor @param {Hour | undefined} found @param {number} bucket @param {Series[]} batches @returns {Promise<Series[]>} */
  async function rowsOf(sensor, found, bucket, batches) {
    if (!found) return [];
    const history = mergeSeries(await store.packed.readHour(sensor, bucket));
    return found.packed ? [history] : [...batches, history];
  }

  return {
    /** @param {Sensor} sensor @param {number} from epoch ms, the start of an hour @param {number} to epoch ms @returns {Promise<Map<number, Hour>>} those that may have samples, by their start */
    async hoursOf(sensor, from, to) {
      const hours = await lookUp(sensor, from, to);
      return new Map(hours.map((hour) => [hour.hour, hour]));
    },

    /**
     * @param {number} bucket epoch ms
     * @param {Buffer} device 16 bytes
     * @param {Map<string, { sensor: Sensor, hours: Map<number, Hour> }>} sensors by id
     * @returns {Promise<Map<string, Series[]>>} by sensor id. Sensors
     *   that nobody named are among them as long as their hour is in batches
     */
    async readHour(bucket, device, sensors) {
      const found = [...sensors.values()].map(({ hours }) => hours.get(bucket));
      const inBatches = found.some((hour) => hour && !hour.packed);
      const batches = inBatches
        ? await store.samples.readDeviceHour(device, bucket)
        : /** @type {Map<string, Series[]>} */ (new Map());
      const rows = new Map(batches);
      await Promise.all(
        [...sensors].map(async ([id, { sensor, hours }]) => {
          rows.set(id, await rowsOf(sensor, hours.get(bucket), bucket, batches.get(id) ?? []));
        }),
      );
      return rows;
    },

    /** @param {Sensor} sensor @param {string} id of the sensor @param {number} bucket epoch ms @returns {Promise<Series[]>} */
    async readSensorHour(sensor, id, bucket) {
      const hours = await this.hoursOf(sensor, bucket, bucket + HOUR_MS);
      return (await this.readHour(bucket, sensor.device, new Map([[id, { sensor, hours }]]))).get(id) ?? [];
    },
  };
}
