import { JoinedCalls } from '../../../common/concurrency.ts';
import {
  type DeviceBytes,
  groupOf,
  type Identity,
  identifyDevice,
  type SensorBytes,
  uuidBytes,
  uuidText,
} from '../../../schema/ids.ts';
import type { Store } from '../../store/index.ts';
import type { SensorRow } from '../../store/registry/rows.ts';
import type { MonitoredSensor } from './evaluation/evaluator.ts';
import { covers, type RuleVersion } from './rules/rule.ts';

export interface SensorState {
  /** of the newest acknowledged sample; null: unknown */
  newest: number | null;
  /** retirement of the device, or the caller's `now` if that time is unknown; null: the sensor is registered */
  goneAt: number | null;
}

export function createSubjects(store: Pick<Store, 'fleet' | 'devices'>, groups: number) {
  /** The alarms of a device are evaluated together, and share a read. */
  const joined: JoinedCalls<MonitoredSensor[]> = new JoinedCalls();

  function ofDevice(bytes: DeviceBytes): Promise<MonitoredSensor[]> {
    const id = uuidText(bytes);
    return joined.call(id, async () => {
      const group = groupOf(bytes, groups);
      const rows = await store.devices.sensors({ group, bytes });
      return rows
        .filter(({ registeredAt }) => registeredAt !== null)
        .map((row) => toSubject(row, id, bytes, group));
    });
  }

  const find = async ({
    device,
    sensor,
  }: {
    device: DeviceBytes;
    sensor: SensorBytes;
  }): Promise<MonitoredSensor | null> =>
    (await ofDevice(device)).find((subject) => subject.sensor.bytes.equals(sensor)) ?? null;

  return {
    ofDevice,
    find,

    async stateOf(
      { device, sensor }: { device: DeviceBytes; sensor: SensorBytes },
      now: number,
    ): Promise<SensorState> {
      const found = await find({ device, sensor });
      if (found) return { newest: found.sensor.ts, goneAt: null };
      const group = groupOf(device, groups);
      return { newest: null, goneAt: (await store.devices.retiredAt({ group, bytes: device })) ?? now };
    },

    async *inScope(
      version: Pick<RuleVersion, 'definition' | 'ids' | 'removed'>,
    ): AsyncGenerator<MonitoredSensor, void> {
      const { type, site, device } = version.definition.scope;
      if (device !== undefined) {
        const bytes = (identifyDevice(device) as Identity).bytes;
        yield* (await ofDevice(bytes)).filter((found) => covers(version, found.device.id, found.sensor));
        return;
      }
      const filter = { ...(type !== undefined && { type }), ...(site !== undefined && { site }) };
      let after: Page['next'] = null;
      do {
        const page: Page = await store.fleet.latestPage({
          filter,
          after,
          limit: SENSORS_AT_ONCE,
        });
        for (const row of page.rows) {
          const bytes = uuidBytes(row.deviceId);
          yield toSubject(row, row.deviceId, bytes, groupOf(bytes, groups));
        }
        after = page.next;
      } while (after);
    },
  };
}

export type Subjects = ReturnType<typeof createSubjects>;

type Page = Awaited<ReturnType<Store['fleet']['latestPage']>>;

const SENSORS_AT_ONCE = 500;

const toSubject = (row: SensorRow, id: string, bytes: DeviceBytes, group: number): MonitoredSensor => ({
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
