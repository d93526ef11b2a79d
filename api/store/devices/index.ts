import { uuidText } from '../../../schema/ids.ts';
import type { DeviceKey } from '../registry/rows.ts';
import type { Session } from '../sending/session.ts';
import { createDevicePages } from './device-pages.ts';
import { createLatestPages } from './latest-pages.ts';
import { createLatestRows, isRegistered, type LatestRow, type SensorKey } from './latest-rows.ts';
import { createSensorIndex } from './sensor-index.ts';

/** Creates the reader of the whole fleet: pages of devices, and pages of sensors with their latest values. */
export function createFleet({
  session,
  groups,
  clock,
  onStaleIndex,
}: {
  session: Session;
  /** `LATEST_GROUPS` */
  groups: number;
  /** epoch ms */
  clock: () => number;
  /** called for each index row that the table `device` or `sensor` contradicts */
  onStaleIndex: (kind: string) => void;
}) {
  const latest = createLatestRows(session);
  const index = createSensorIndex(session);
  const pages = createLatestPages({ latest, index, groups, clock, onStaleIndex });
  return {
    latestPage: pages.read,
    latestPageOfDevice: pages.readDevice,
    devicePage: createDevicePages({ session, groups, clock, onStaleIndex }).read,
    tally: createTally(session),

    /** @returns all registered sensors of a device */
    latestOfDevice: async (device: DeviceKey): Promise<LatestRow[]> =>
      (await latest.ofDevice(device)).filter(isRegistered),

    /** @returns pages of the registered sensors of a group of devices */
    async *latestOfGroup(group: number): AsyncGenerator<LatestRow[], void> {
      let key: SensorKey | undefined;
      do {
        const rows = await latest.after({ group, ...(key && { key }) }, ROWS_AT_ONCE);
        yield rows.filter(isRegistered);
        const last = rows.length === ROWS_AT_ONCE ? rows.at(-1) : undefined;
        key = last && { device: last.deviceId, sensor: last.id };
      } while (key);
    },

    /**
     * Reads some sensors of one group, with their latest values.
     * @param sensors ids, 16 bytes each
     * @returns the sensors that are registered
     */
    async latestOfSensors(
      group: number,
      sensors: Array<{ device: Buffer; sensor: Buffer }>,
    ): Promise<LatestRow[]> {
      const keys = sensors.map(({ device, sensor }) => ({
        device: uuidText(device),
        sensor: uuidText(sensor),
      }));
      return [...(await latest.byKeys(group, keys)).values()].filter(isRegistered);
    },
  };
}

export type Fleet = ReturnType<typeof createFleet>;

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

interface TalliedDevice {
  state: string | null;
  /** epoch ms */
  lastSeen: number | null;
  /** epoch ms of the last change of the device's sensors; 0: unknown */
  sensorsAt: number;
}

/** Creates the reader of the columns that the counts of the fleet need. It reads page by page. */
export function createTally(session: Session) {
  return {
    /** @returns pages of the registered devices */
    async *devices(group: number): AsyncGenerator<TalliedDevice[]> {
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

    /** @returns pages of the registered sensors */
    async *sensors(group: number): AsyncGenerator<Array<{ type: string | null; site: string | null }>> {
      for await (const rows of session.pages(SENSORS, [group])) {
        yield rows
          .filter((row) => row['registered_at'])
          .map((row) => ({ type: row['type'], site: row['site'] }));
      }
    },
  };
}

export type Tally = ReturnType<typeof createTally>;
