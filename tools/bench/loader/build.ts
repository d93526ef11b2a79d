import { historyRows } from '../../../api/history/packing/pack-sensor-hour.ts';
import { connectStore, type Store } from '../../../api/store/index.ts';
import { forEachConcurrently } from '../../../common/concurrency.ts';
import type { Config } from '../../../common/settings/config.ts';
import type { Series } from '../../../schema/packed/series.ts';
import { hourStatisticsOf } from '../../../schema/packed/statistics.ts';
import { HOUR_MS } from '../../../schema/rules.ts';
import { connectRowStore, createRowTable } from '../variants/rows.ts';
import {
  fleetOf,
  type LoadedDevice,
  type Recipe,
  register,
  samplesOfHour,
  samplesPerHour,
} from './data-set.ts';

const BATCH = 60;

/** Device hours at once: enough to keep the database busy, and far below the limits of the driver. */
const AT_ONCE = 48;

/** The same definition always writes the same samples. `from`, `to`: epoch ms, starts of hours */
export type DataSet = Recipe & { from: number; to: number };

/**
 * Uses the statements of the application: devices and sensors, the samples of every hour, and the latest value of each sensor. The keyspace
 * must be migrated.
 * @returns number of committed samples
 */
export async function build({
  config,
  fleet,
  set,
  into,
  onProgress = () => {},
  signal,
}: {
  config: Config;
  fleet: { seed: number; devices: number; sensors: number; tree?: readonly number[] };
  set: DataSet;
  into: 'history' | 'batches' | 'rows';
  onProgress?: (samples: number) => void;
  signal?: AbortSignal;
}): Promise<{ samples: number }> {
  const options = { ...config, observe: () => {}, onStaleIndex: () => {} };
  if (into === 'rows') await createRowTable(config);
  const store = await (into === 'rows' ? connectRowStore : connectStore)(options);
  try {
    const now = Date.now();
    const write = into === 'history' ? createHistoryWriter(store, now) : createMessageWriter(store);
    const devices = fleetOf({ ...fleet, groups: config.retention.latestGroups });
    await forEachConcurrently(AT_ONCE, devices, (device) =>
      register(store.write.registry, device, { now, intervalMs: set.intervalMs }),
    );
    let samples = 0;
    await forEachConcurrently(AT_ONCE, hoursOf(devices, set), async ({ device, hour }) => {
      signal?.throwIfAborted();
      const sensors = device.sensors.map(({ name, bytes }) => ({
        sensor: bytes,
        series: samplesOfHour(set, { device: device.name, sensor: name }, hour),
      }));
      await write(device, hour, sensors);
      samples += sensors.reduce((sum, { series }) => sum + series.times.length, 0);
      onProgress(samples);
    });
    await forEachConcurrently(AT_ONCE, devices, (device) => writeLatest(store, device, set));
    return { samples };
  } finally {
    await store.close();
  }
}

function* hoursOf(fleet: LoadedDevice[], { from, to }: DataSet) {
  for (let hour = from; hour < to; hour += HOUR_MS) for (const device of fleet) yield { device, hour };
}

async function writeLatest({ write }: Store, { name, bytes, group, sensors }: LoadedDevice, set: DataSet) {
  const newest = sensors.map((sensor) => {
    const { times, values } = samplesOfHour(set, { device: name, sensor: sensor.name }, set.to - HOUR_MS);
    const unknown = { bytes: sensor.bytes, ts: null, value: null };
    return { sensor: unknown, ts: Number(times.at(-1)), value: Number(values.at(-1)) };
  });
  await write.latest({ bytes, group, retiredAt: null }, newest);
}

export const samplesIn = (
  { devices, sensors }: { devices: number; sensors: number },
  { from, to, intervalMs }: DataSet,
): number => devices * sensors * ((to - from) / HOUR_MS) * samplesPerHour(intervalMs);

type HourWriter = (
  device: LoadedDevice,
  hour: number,
  sensors: Array<{ sensor: Buffer; series: Series }>,
) => Promise<void>;

/**
 * Writes an hour like the packer: the samples before their statistics. It does not write `pack_progress`. The progress of a group depends
 * on all its devices, and only the packer knows all of them.
 * @param readFrom when the packer would have read the hour, in epoch ms
 */
const createHistoryWriter =
  ({ write: { history } }: Store, readFrom: number): HourWriter =>
  async ({ bytes: device }, hour, sensors) => {
    for (const { sensor, series } of sensors) {
      for (const samples of historyRows(hour, series))
        await history.writeSamples({ device, sensor }, [{ hour, samples }]);
      await history.writeStatistics({ device, sensor }, hour, hourStatisticsOf(series.values), readFrom);
    }
  };

/** Writes an hour as ingest does in that hour, for a device whose sensors all measure at the same times. */
const createMessageWriter =
  ({ write }: Store): HourWriter =>
  async (device, _hour, sensors) => {
    const longest = Math.max(...sensors.map(({ series }) => series.times.length));
    for (let from = 0; from < longest; from += BATCH) {
      const message = sensors.map(({ sensor, series: { times, values } }) => ({
        sensor,
        times: times.slice(from, from + BATCH),
        values: values.slice(from, from + BATCH),
      }));
      await write.samples({ bytes: device.bytes, sensors: { size: sensors.length } }, message);
    }
  };
