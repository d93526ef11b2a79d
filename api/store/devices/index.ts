import { uuidText } from '../../../schema/ids.js';
import { createDevicePages } from './device-pages.js';
import { createLatestPages } from './latest-pages.js';
import { createLatestRows, isRegistered } from './latest-rows.js';
import { createSensorIndex } from './sensor-index.js';

/** @import { DeviceKey } from '../registry/rows.js' */
/** @import { Session } from '../sending/session.js' */
/** @import { LatestRow } from './latest-rows.js' */
/** @import { SensorKey } from './latest-rows.js' */

/**
 * Creates the reader of the whole fleet: pages of devices, and pages of sensors with their latest values.
 *
 * @param {object} deps
 * @param {Session} deps.session
 * @param {number} deps.groups `LATEST_GROUPS`
 * @param {() => number} deps.clock epoch ms
 * @param {(kind: string) => void} deps.onStaleIndex called for each index row that the table `device` or `sensor` contradicts
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

    /** @param {DeviceKey} device @returns {Promise<LatestRow[]>} all registered sensors of a device */
    latestOfDevice: async (device) => (await latest.ofDevice(device)).filter(isRegistered),

    /** @param {number} group @returns {AsyncGenerator<LatestRow[], void>} pages of the registered sensors of a group of devices */
    async *latestOfGroup(group) {
      /** @type {SensorKey | undefined} */
      let key;
      do {
        const rows = await latest.after({ group, ...(key && { key }) }, ROWS_AT_ONCE);
        yield rows.filter(isRegistered);
        const last = rows.length === ROWS_AT_ONCE ? rows.at(-1) : undefined;
        key = last && { device: last.deviceId, sensor: last.id };
      } while (key);
    },

    /**
     * Reads some sensors of one group, with their latest values.
     *
     * @param {number} group
     * @param {Array<{ device: Buffer, sensor: Buffer }>} sensors ids, 16 bytes each
     * @returns {Promise<LatestRow[]>} the sensors that are registered
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

/** Number of sensors per request when a whole group is read. */
const ROWS_AT_ONCE = 1000;

/** Page size for rows of a few small columns. */
const PAGE = 2000;

const DEVICES = {
  name: 'tally_devices',
  cql: 'SELECT state, last_seen, registered_at, sensors_at FROM device WHERE grp = ?',
  fetchSize: PAGE,
};
const SENSORS = {
  name: 'tally_sensors',
  cql: 'SELECT type, site, registered_at FROM sensor WHERE grp = ?',
  fetchSize: PAGE,
};

/**
 * @typedef {object} TalliedDevice
 * @property {string | null} state
 * @property {number | null} lastSeen epoch ms
 * @property {number} sensorsAt epoch ms of the last change of the device's sensors; 0: unknown
 */

/**
 * Creates the reader of the columns that the counts of the fleet need. It reads page by page.
 *
 * @param {Session} session
 */
export function createTally(session) {
  return {
    /** @param {number} group @returns {AsyncGenerator<TalliedDevice[]>} pages of the registered devices */
    async *devices(group) {
      for await (const rows of session.pages(DEVICES, [group])) {
        yield rows
          .filter((row) => row['registered_at'])
          .map((row) => ({
            state: row['state'],
            lastSeen: row['last_seen']?.getTime() ?? null,
            sensorsAt: row['sensors_at']?.getTime() ?? 0,
          }));
      }
    },

    /** @param {number} group @returns {AsyncGenerator<Array<{ type: string | null, site: string | null }>>} pages of the registered sensors */
    async *sensors(group) {
      for await (const rows of session.pages(SENSORS, [group])) {
        yield rows
          .filter((row) => row['registered_at'])
          .map((row) => ({ type: row['type'], site: row['site'] }));
      }
    },
  };
}

/** @typedef {ReturnType<typeof createTally>} Tally */
