import type { types } from 'cassandra-driver';
import type { DeviceBytes } from '../../../schema/ids.ts';
import type { DeviceKey } from '../registry/rows.ts';
import type { Session } from '../sending/session.ts';

export type Newest = { ts: number; value: number };

/** ScyllaDB accepts 100 clustering keys in one IN. */
const KEYS_PER_READ = 100;

const OF_DEVICE = {
  name: 'newest_of_device',
  cql: 'SELECT newest FROM latest WHERE grp = ? AND device_id = ?',
};
const OF_DEVICES = {
  name: 'newest_of_devices',
  cql: 'SELECT device_id, newest FROM latest WHERE grp = ? AND device_id IN ?',
};

/** The table `latest` has one row for each device, with the newest value of each sensor. */
export function createNewestReads(session: Session) {
  return {
    async ofDevice({ group, bytes }: DeviceKey): Promise<Map<string, Newest>> {
      const row = await session.one(OF_DEVICE, [group, bytes]);
      return newestOf(row?.['newest']);
    },

    async ofDevices(group: number, devices: DeviceBytes[]): Promise<Map<string, Map<string, Newest>>> {
      const found: Map<string, Map<string, Newest>> = new Map();
      for (let from = 0; from < devices.length; from += KEYS_PER_READ) {
        const some = devices.slice(from, from + KEYS_PER_READ);
        for (const row of await session.all(OF_DEVICES, [group, some]))
          found.set(String(row['device_id']), newestOf(row['newest']));
      }
      return found;
    },
  };
}

const newestOf = (map: Record<string, types.Tuple> | null | undefined): Map<string, Newest> =>
  new Map(
    Object.entries(map ?? {}).map(([sensor, pair]) => [
      sensor,
      { ts: pair.get(0).getTime(), value: pair.get(1) },
    ]),
  );
