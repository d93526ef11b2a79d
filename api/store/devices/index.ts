import { type DeviceBytes, type SensorBytes, uuidText } from '../../../schema/ids.ts';
import type { Unwritten } from '../measurements/reads.ts';
import type { DeviceKey } from '../registry/rows.ts';
import type { Session } from '../sending/session.ts';
import { createDevicePages } from './device-pages.ts';
import { createLatestPages, createSensorIndex } from './latest-pages.ts';
import { createLatestRows, isRegistered, type LatestRow, type SensorKey } from './latest-rows.ts';

export function createFleet({
  session,
  groups,
  clock,
  onStaleIndex,
  unwritten,
}: {
  session: Session;
  unwritten?: Pick<Unwritten, 'newestOf'>;
  groups: number;
  /** epoch ms */
  clock: () => number;
  /** called for each index row that the table `device` or `sensor` contradicts */
  onStaleIndex: (kind: string) => void;
}) {
  const latest = createLatestRows(session, unwritten);
  const index = createSensorIndex(session);
  const pages = createLatestPages({ latest, index, groups, clock, onStaleIndex });
  return {
    latestPage: pages.read,
    latestPageOfDevice: pages.readDevice,
    devicePage: createDevicePages({ session, groups, clock, onStaleIndex }).read,
    tally: createTally(session),

    latestOfDevice: async (device: DeviceKey): Promise<LatestRow[]> =>
      (await latest.ofDevice(device)).filter(isRegistered),

    async *latestOfGroup(group: number): AsyncGenerator<LatestRow[], void> {
      let key: SensorKey | undefined;
      do {
        const rows = await latest.after({ group, ...(key && { key }) }, ROWS_AT_ONCE);
        yield rows.filter(isRegistered);
        const last = rows.length === ROWS_AT_ONCE ? rows.at(-1) : undefined;
        key = last && { device: last.deviceId, sensor: last.id };
      } while (key);
    },

    async latestOfSensors(
      group: number,
      sensors: Array<{ device: DeviceBytes; sensor: SensorBytes }>,
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

const ROWS_AT_ONCE = 1000;

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
  lastSeen: number | null;
  /** epoch ms of the last change of the device's sensors; 0: unknown */
  sensorsAt: number;
}

export function createTally(session: Session) {
  return {
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
