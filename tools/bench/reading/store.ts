import { connect } from '../../../api/store/connect.ts';
import { connectStore } from '../../../api/store/index.ts';
import type { Config } from '../../../common/settings/config.ts';
import {
  groupOf,
  type Identity,
  identifyDevice,
  identifySensor,
  type SensorIdentity,
} from '../../../schema/ids.ts';
import { yearOf } from '../../../schema/rules.ts';
import type { Target } from './kinds.ts';

const SELECT_ROWS =
  'SELECT device_id, sensor_id, device, name, type, unit, site FROM sensor WHERE grp = ? LIMIT ?';

/** The bench compares reads over HTTP with these reads. */
export async function openStoreReader({ cql, retention }: Config) {
  const client = await connect(cql, { keyspace: cql.keyspace, applicationName: 'bench' });
  const store = await connectStore({ cql, retention, observe: () => {}, onStaleIndex: () => {} });

  function keyOf({ device, sensor }: Target) {
    const { id, bytes } = identifyDevice(device) as Identity;
    const identity = identifySensor(id, sensor) as SensorIdentity;
    return { group: groupOf(bytes, retention.latestGroups), device: bytes, sensor: identity.bytes };
  }

  return {
    /** All rows are in one partition. */
    rows: async (target: Target, limit: number): Promise<number> =>
      (await client.execute(SELECT_ROWS, [keyOf(target).group, limit])).rows.length,

    /** Sends one concurrent request for each year. @returns number of hours */
    async statistics(target: Target): Promise<number> {
      const key = keyOf(target);
      const { from, to } = target;
      const turn = Math.min(to, Date.UTC(yearOf(from) + 1, 0));
      const years = [
        { from, to: turn },
        { from: turn, to },
      ].filter((year) => year.from < year.to);
      const read = await Promise.all(
        years.map((year) => store.packed.readStatistics(key, year.from, year.to)),
      );
      return read.flat().length;
    },

    close: () => Promise.all([store.close(), client.shutdown()]),
  };
}

export type StoreReader = Awaited<ReturnType<typeof openStoreReader>>;
