import { forEachConcurrently } from '../../../../common/concurrency.ts';
import { type DeviceBytes, uuidText } from '../../../../schema/ids.ts';
import { chunks, type OutRecord } from '../sender.ts';
import { DEVICES_AT_ONCE, type Sending } from './sending.ts';

const LATEST_AT_ONCE = 2000;

/** One request for each of 250,000 devices would take longer than an hour. */
export async function sendLatest(
  sending: Sending,
  group: number,
  devices: Iterable<DeviceBytes> | AsyncIterable<DeviceBytes>,
) {
  let waiting: OutRecord[] = [];
  const flush = async () => {
    const some = waiting;
    waiting = [];
    for (const part of chunks(some)) await sending.mustSend(part);
  };
  await forEachConcurrently(DEVICES_AT_ONCE, devices, async (device) => {
    waiting.push(...(await latestRecords(sending, group, device)));
    if (waiting.length >= LATEST_AT_ONCE) await flush();
  });
  await flush();
}

async function latestRecords(
  { store, steps, records }: Sending,
  group: number,
  device: DeviceBytes,
): Promise<OutRecord[]> {
  const rows = await steps.run(() => store.fleet.latestOfDevice({ group, bytes: device }));
  return rows.flatMap((row) =>
    row.ts === null || row.value === null
      ? []
      : [
          records.ofLatest({
            device_id: uuidText(device),
            device: row.deviceName,
            sensor_id: row.id,
            sensor: row.name,
            type: row.type,
            unit: row.unit,
            site: row.site,
            ts: row.ts,
            value: row.value,
          }),
        ],
  );
}
