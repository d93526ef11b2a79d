import { expect } from '@jest/globals';
import { identifyDevice, identifySensor } from '../../../schema/ids.js';
import { mergeSeries } from '../../../schema/packed/series.js';
import { bucketOf, closingOf, HOUR_MS } from '../../../schema/rules.js';
import { createTestPacker } from '../history/packing.js';
import { until } from '../until.js';
import { useStoredSystem } from './stored.js';

/** @import { Identity } from '../../../schema/ids.js' */

/** @typedef {{ ts: number, value: number }} Sample `ts` in epoch ms */

export const GROUPS = 2;

const MINUTE_MS = 60_000;

/**
 * Starts a system for the tests of the file, which set its clock, send samples and read its history.
 *
 * @param {Parameters<typeof useStoredSystem>[0] & { readStreamed?: () => Promise<Array<number | null>> }} [options] `readStreamed`: until
 *   when each target of streaming is complete, in epoch ms; default: the groups in Kafka
 */
export function usePackedSystem({ readStreamed, ...options } = {}) {
  const clock = { now: bucketOf(Date.now()) };
  const settings = { LATEST_GROUPS: String(GROUPS) };
  const { system, store, database } = useStoredSystem({ settings, clock: () => clock.now, ...options });

  function readKafka() {
    const groups = Array.from({ length: GROUPS }, (_, group) => group);
    return Promise.all(groups.map((group) => store().streaming.streamedUntil(group)));
  }

  /** @param {string} device @param {string} [sensor] */
  function keyOf(device, sensor = 's') {
    const { id, bytes } = /** @type {Identity} */ (identifyDevice(device));
    return { device: bytes, sensor: /** @type {Identity} */ (identifySensor(id, sensor)).bytes };
  }

  return {
    clock,
    keyOf,
    system,
    store,
    database,

    /** @param {Partial<Parameters<typeof createTestPacker>[0]>} [deps] */
    packer: (deps) => createTestPacker({ store: store(), groups: GROUPS, clock: () => clock.now, ...deps }),

    /** Moves the clock to the middle of the next hour, which is not packed. @returns {number} epoch ms */
    newHour() {
      const hour = bucketOf(clock.now) + HOUR_MS;
      clock.now = hour + 30 * MINUTE_MS;
      return hour;
    },

    /** Moves the clock until an hour has closed, and waits for the watermarks of streaming behind it. @param {number} hour epoch ms */
    async closeHour(hour) {
      clock.now = Math.max(clock.now, closingOf(hour));
      await until(
        async () =>
          (await (readStreamed ?? readKafka)()).every(
            (streamedUntil) => streamedUntil !== null && streamedUntil > hour,
          ),
        { what: `the watermarks behind ${new Date(hour).toISOString()}` },
      );
    },

    /** Packs everything before an hour. @param {number} hour epoch ms */
    async packBefore(hour) {
      clock.now = closingOf(hour) - 1;
      await this.packer().packDue();
    },

    /** Sends samples, and settles at their acknowledgement. @param {string} device @param {Sample[]} samples @param {string} [sensor] */
    async send(device, samples, sensor = 's') {
      const response = await system().post(
        `/measurements?device=${device}`,
        samples.map((sample) => ({ sensor_id: sensor, ...sample })),
      );
      expect(response.status).toBe(200);
    },

    /** @param {string} device @param {number} hour @param {string} [sensor] */
    async statisticsOf(device, hour, sensor) {
      const rows = await store().packed.readStatistics(keyOf(device, sensor), hour, hour + HOUR_MS);
      return rows[0] ?? null;
    },

    /** @param {string} device @param {number} hour @param {string} [sensor] @returns {Promise<Sample[]>} merged */
    async historyOf(device, hour, sensor) {
      const { times, values } = mergeSeries(await store().packed.readHour(keyOf(device, sensor), hour));
      return [...times].map((ts, index) => ({ ts, value: Number(values[index]) }));
    },

    /** Reads samples as a client does. @param {string} device @param {number} hour @param {string} [sensor] @returns {Promise<Sample[]>} */
    async read(device, hour, sensor = 's') {
      const range = `from=${hour}&to=${hour + HOUR_MS}&order=asc&limit=1000`;
      const items = await system().all(`/devices/${device}/sensors/${sensor}/measurements?${range}`);
      return items.map(({ ts, value }) => ({ ts: Date.parse(ts), value }));
    },

    /** @returns {Promise<number[]>} of each group */
    packedUntil: () =>
      Promise.all(
        Array.from(
          { length: GROUPS },
          async (_, group) => (await store().packProgress.read(group)).packedUntil,
        ),
      ),
  };
}

/** Makes one sample for each second. @param {number} hour epoch ms @param {number} count @param {number} [from] number of the first sample @returns {Sample[]} */
export const samplesOf = (hour, count, from = 0) =>
  Array.from({ length: count }, (_, i) => ({ ts: hour + (from + i) * 1000, value: from + i - 3.5 }));
