import { type DeviceBytes, uuidBytes } from '../../../schema/ids.ts';
import type { Fleet } from '../../store/devices/index.ts';
import type { LatestRow } from '../../store/devices/latest-rows.ts';
import { covers, newestOf, type Rule } from './rules/rule.ts';
import { WatchedSensor } from './watched-sensor.ts';

export interface WatchedDevice {
  id: string;
  bytes: DeviceBytes;
  sensors: Map<string, WatchedSensor>;
  /** epoch ms at which the first of these sensors may be absent */
  dueAt: number;
}

/** Devices by id that absence rules cover, with their newest samples. */
export async function readDevices(
  fleet: Pick<Fleet, 'latestOfGroup'>,
  options: {
    group: number;
    rules: Rule[];
    /** a sensor without a sample counts if it was registered, or the rule began, at this time or later */
    unsentFrom: number;
    before?: Map<string, WatchedDevice>;
    /** this process did not watch the group after it read `before` */
    isResumed?: boolean;
    signal?: AbortSignal;
  },
): Promise<Map<string, WatchedDevice>> {
  const devices: Map<string, WatchedDevice> = new Map();
  for await (const rows of fleet.latestOfGroup(options.group)) {
    if (options.signal?.aborted) break;
    for (const row of rows) add(devices, row, options);
  }
  return devices;
}

function add(
  devices: Map<string, WatchedDevice>,
  row: LatestRow,
  {
    group,
    rules,
    unsentFrom,
    before,
    isResumed,
  }: {
    group: number;
    rules: Rule[];
    unsentFrom: number;
    before?: Map<string, WatchedDevice>;
    isResumed?: boolean;
  },
) {
  const registeredAt = Number(row.registeredAt);
  const own = rules.filter((rule) => {
    const version = newestOf(rule);
    const counts = row.ts !== null || Math.max(registeredAt, version.since) >= unsentFrom;
    return counts && covers(version, row.deviceId, row);
  });
  if (own.length === 0) return;
  const { deviceId: id } = row;
  const bytes = uuidBytes(id);
  const known = before?.get(id)?.sensors.get(row.id);
  const device = devices.get(id) ?? { id, bytes, sensors: new Map(), dueAt: 0 };
  const subject = {
    device: { id, bytes, group, name: row.deviceName },
    sensor: { ...row, bytes: uuidBytes(row.id), registeredAt },
  };
  device.sensors.set(row.id, new WatchedSensor(subject, own, row.ts, known, isResumed));
  devices.set(id, device);
}
