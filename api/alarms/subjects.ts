import { JoinedCalls } from '../../common/concurrency.js';
import { groupOf, identifyDevice, uuidBytes, uuidText } from '../../schema/ids.js';
import { covers } from './rules/rule.js';

/** @import { LatestRow } from '../store/devices/latest-rows.js' */
/** @import { Store } from '../store/index.js' */
/** @import { SensorRow } from '../store/registry/rows.js' */
/** @import { MonitoredSensor } from './evaluation/evaluator.js' */
/** @import { RuleVersion } from './rules/rule.js' */

/**
 * The state of a sensor in the registry.
 *
 * @typedef {object} SensorState
 * @property {number | null} newest epoch ms of the newest acknowledged sample; null: unknown
 * @property {number | null} goneAt epoch ms at which the device of the sensor was retired, or the caller's `now` if that time is
 *   unknown; null: the sensor is registered
 */

/**
 * Returns functions that find the sensors of rules in the registry.
 *
 * @param {Pick<Store, 'fleet' | 'devices'>} store
 * @param {number} groups number of groups of devices (`LATEST_GROUPS`)
 */
export function createSubjects(store, groups) {
  /** Reads of devices. The alarms of a device are evaluated together, and share a read. @type {JoinedCalls<MonitoredSensor[]>} */
  const joined = new JoinedCalls();

  /** @param {Buffer} bytes 16 bytes of the device id @returns {Promise<MonitoredSensor[]>} the registered sensors of the device */
  function ofDevice(bytes) {
    const id = uuidText(bytes);
    return joined.call(id, async () => {
      const group = groupOf(bytes, groups);
      const rows = await store.devices.sensors({ group, bytes });
      return rows
        .filter(({ registeredAt }) => registeredAt !== null)
        .map((row) => toSubject(row, id, bytes, group));
    });
  }

  /** @param {{ device: Buffer, sensor: Buffer }} key @returns {Promise<MonitoredSensor | null>} */
  const find = async ({ device, sensor }) =>
    (await ofDevice(device)).find((subject) => subject.sensor.bytes.equals(sensor)) ?? null;

  return {
    ofDevice,
    find,

    /**
     * Finds the newest sample of a sensor, and whether its device was retired.
     *
     * @param {{ device: Buffer, sensor: Buffer }} key
     * @param {number} now epoch ms
     * @returns {Promise<SensorState>}
     */
    async stateOf({ device, sensor }, now) {
      const found = await find({ device, sensor });
      if (found) return { newest: found.sensor.ts, goneAt: null };
      const group = groupOf(device, groups);
      return { newest: null, goneAt: (await store.devices.retiredAt({ group, bytes: device })) ?? now };
    },

    /**
     * @param {Pick<RuleVersion, 'definition' | 'ids' | 'removed'>} version
     * @returns {AsyncGenerator<MonitoredSensor, void>} the sensors in the scope of the version
     */
    async *inScope(version) {
      const { type, site, device } = version.definition.scope;
      if (device !== undefined) {
        const bytes = /** @type {{ bytes: Buffer }} */ (identifyDevice(device)).bytes;
        yield* (await ofDevice(bytes)).filter((found) => covers(version, found.device.id, found.sensor));
        return;
      }
      const filter = { ...(type !== undefined && { type }), ...(site !== undefined && { site }) };
      /** @type {Awaited<ReturnType<Store['fleet']['latestPage']>>['next']} */
      let after = null;
      do {
        /** @type {{ rows: LatestRow[], next: any }} */
        const page = await store.fleet.latestPage({ filter, after, limit: SENSORS_AT_ONCE });
        for (const row of page.rows) {
          const bytes = uuidBytes(row.deviceId);
          yield toSubject(row, row.deviceId, bytes, groupOf(bytes, groups));
        }
        after = page.next;
      } while (after);
    },
  };
}

/** @typedef {ReturnType<typeof createSubjects>} Subjects */

const SENSORS_AT_ONCE = 500;

/** @param {SensorRow} row @param {string} id @param {Buffer} bytes @param {number} group @returns {MonitoredSensor} */
const toSubject = (row, id, bytes, group) => ({
  device: { id, bytes, group, name: row.deviceName },
  sensor: {
    id: row.id,
    bytes: uuidBytes(row.id),
    name: row.name,
    type: row.type,
    unit: row.unit,
    site: row.site,
    intervalMs: row.intervalMs,
    registeredAt: Number(row.registeredAt),
    ts: row.ts,
  },
});
