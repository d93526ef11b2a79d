import { someAtOnce } from '../../common/some-at-once.js';
import { DAY_MS, isExact } from '../../schema/rules.js';
import { walkPages } from './walk.js';

/** Devices that are looked at at once. */
const DEVICES_AT_ONCE = 8;

/**
 * Packs again what came late: of a whole UTC day, so that one request shows all hours of a sensor, and nearly always that
 * there is nothing to do.
 *
 * @param {object} parts
 * @param {import('../store/index.js').Store['packing']} parts.store
 * @param {Pick<import('../trusted-clock.js').TrustedClock, 'now'>} parts.clock
 * @param {import('./steps.js').Steps} parts.steps
 * @param {import('./sensor-hour.js').SensorPacker} parts.sensors
 */
export function createSecondPass({ store, clock, steps, sensors }) {
  /** @param {import('../store/history/keys.js').SensorBytes} key @param {number} day epoch ms */
  async function settleSensor(key, day) {
    const rows = await steps.run(() => store.readStatistics(key, day, day + DAY_MS));
    for (const row of rows) {
      if (isExact(row)) continue;
      const readFrom = await clock.now();
      const batches = await steps.run(() => store.sensorHour(key, row.hour));
      await sensors.pack({ ...key, hour: row.hour }, batches, readFrom);
    }
  }

  /** @param {number} group @param {Buffer} device @param {number} day epoch ms */
  async function settleDevice(group, device, day) {
    for (const sensor of await steps.run(() => store.sensorIds(group, device))) {
      await settleSensor({ device, sensor }, day);
    }
  }

  return {
    /**
     * @param {number} group
     * @param {number} day epoch ms of its start; all its hours are packed
     * @returns {Promise<void>} settles when all that had come late until now is in the statistics
     */
    settleDay: (group, day) =>
      someAtOnce(
        DEVICES_AT_ONCE,
        walkPages((after) => steps.run(() => store.devicePage(group, after))),
        (device) => settleDevice(group, device, day),
      ),

    /**
     * @param {number} group
     * @param {number} noticed epoch ms of an hour that has closed
     * @returns {Promise<void>} settles when the days that were noticed in it are in the statistics, whenever they were
     */
    settleNoticed: (group, noticed) =>
      someAtOnce(
        DEVICES_AT_ONCE,
        walkPages((after) => steps.run(() => store.lateDayPage(group, noticed, after))),
        ({ device, day }) => settleDevice(group, device, day),
      ),
  };
}

/** @typedef {ReturnType<typeof createSecondPass>} SecondPass */
