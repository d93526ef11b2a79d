import { uuidText } from '../../../schema/ids.js';
import { createDevicePages } from './device-pages.js';
import { createLatestPages } from './latest-pages.js';
import { createLatestRows, isRegistered } from './latest-rows.js';
import { createSensorIndex } from './sensor-index.js';
import { createTally } from './tally.js';

/** @typedef {import('./latest-rows.js').LatestRow} LatestRow */

/**
 * What is known of the whole fleet: pages of devices, and of sensors with their latest values.
 *
 * @param {object} parts
 * @param {import('../session.js').Session} parts.session
 * @param {number} parts.groups `LATEST_GROUPS`
 * @param {() => number} parts.clock epoch ms
 * @param {(kind: string) => void} parts.onStaleIndex told of each index row that `latest` contradicts
 */
export function createFleet({ session, groups, clock, onStaleIndex }) {
  const latest = createLatestRows(session);
  const index = createSensorIndex(session);
  const pages = createLatestPages({ latest, index, groups, clock, onStaleIndex });
  return {
    latestPage: pages.read,
    latestPageOfDevice: pages.readDevice,
    devicePage: createDevicePages({ session, groups, clock, onStaleIndex }).read,
    tally: createTally(session),

    /** @param {import('../registry/rows.js').DeviceKey} device @returns {Promise<LatestRow[]>} all sensors of a device */
    latestOfDevice: async (device) => (await latest.ofDevice(device)).filter(isRegistered),

    /**
     * The latest values of given sensors of one group.
     *
     * @param {number} group
     * @param {Array<{ device: Buffer, sensor: Buffer }>} sensors ids, 16 bytes each
     * @returns {Promise<LatestRow[]>} of those that are registered
     */
    async latestOfSensors(group, sensors) {
      const keys = sensors.map(({ device, sensor }) => ({
        device: uuidText(device),
        sensor: uuidText(sensor),
      }));
      return [...(await latest.byKeys(group, keys)).values()].filter(isRegistered);
    },
  };
}

/** @typedef {ReturnType<typeof createFleet>} Fleet */
