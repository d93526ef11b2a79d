import { groupOf, type Identity, uuidBytes } from '../../../../schema/ids.ts';
import type { Range, Sensor } from '../../../history/reading/hours.ts';
import { type Reading, storedRange } from '../../../history/reading/index.ts';
import type { LatestPlace } from '../../../store/devices/latest-pages.ts';
import type { LatestRow } from '../../../store/devices/latest-rows.ts';
import type { Store } from '../../../store/index.ts';
import type { Labels, Samples } from './rows.ts';

const PAGE = 100;

/** The first samples of these sensors are read while another sensor is encoded. That hides the round trips of sensors with few samples. */
const SENSORS_AHEAD = 4;

export interface ExportedSensor {
  key: Sensor;
  labels: Labels;
  newest: number;
}

export interface SensorSelection {
  site?: string;
  type?: string;
  device?: Identity;
}

export async function* listSensors(
  store: Pick<Store, 'fleet' | 'devices'>,
  groups: number,
  { site, type, device }: SensorSelection,
): AsyncGenerator<ExportedSensor, void> {
  const filter = { site, type };
  const key = device && { group: groupOf(device.bytes, groups), bytes: device.bytes };
  const readPage = (page: Parameters<Store['fleet']['latestPage']>[0]) =>
    key ? store.fleet.latestPageOfDevice(key, page) : store.fleet.latestPage(page);
  const retirement = createRetirementLookUp(store, groups);
  let after: LatestPlace | null = null;
  do {
    const { rows, next }: { rows: LatestRow[]; next: LatestPlace | null } = await readPage({
      filter,
      after,
      limit: PAGE,
    });
    for (const row of rows) {
      const wasRetired = await retirement(row.deviceId);
      // A retirement removes the newest value from `latest` but no samples. So `latest` may have an earlier time than the newest sample.
      const newest = wasRetired ? Number.POSITIVE_INFINITY : row.ts;
      if (newest !== null) yield exportedSensor(row, newest, groups);
    }
    after = next;
  } while (after);
}

/** Caches the result for the last device, since the sensors of a device follow each other. */
function createRetirementLookUp(
  store: Pick<Store, 'devices'>,
  groups: number,
): (deviceId: string) => Promise<boolean> {
  let id = '';
  let wasRetired = false;
  return async (deviceId) => {
    if (deviceId === id) return wasRetired;
    const bytes = uuidBytes(deviceId);
    wasRetired = (await store.devices.retiredAt({ group: groupOf(bytes, groups), bytes })) !== null;
    id = deviceId;
    return wasRetired;
  };
}

export function exportedSensor(row: LatestRow, newest: number, groups: number): ExportedSensor {
  const device = uuidBytes(row.deviceId);
  return {
    key: { group: groupOf(device, groups), device, sensor: uuidBytes(row.id) },
    labels: labelsOf(row, row.deviceId, row.id),
    newest,
  };
}

export const labelsOf = (
  { deviceName, name, type, unit, site }: Pick<LatestRow, 'deviceName' | 'name' | 'type' | 'unit' | 'site'>,
  deviceId: string,
  sensorId: string,
): Labels => ({
  device: deviceName ?? deviceId,
  sensor: name ?? sensorId,
  type,
  unit,
  site,
});

/** Reads one sensor after the other, oldest sample first. `range` must be within retention. */
export async function* readSensors(
  reading: Pick<Reading, 'all'>,
  sensors: AsyncIterable<ExportedSensor> | Iterable<ExportedSensor>,
  range: Range,
  signal: AbortSignal,
): AsyncGenerator<Samples, void> {
  const opened: Array<AsyncGenerator<Samples, void>> = [];
  for await (const sensor of sensors) {
    opened.push(begun(readSensor(reading, sensor, range, signal)));
    if (opened.length > SENSORS_AHEAD) yield* opened.shift() as AsyncGenerator<Samples>;
  }
  for (const samples of opened) yield* samples;
}

async function* readSensor(
  reading: Pick<Reading, 'all'>,
  { key, labels, newest }: ExportedSensor,
  wanted: Range,
  signal: AbortSignal,
): AsyncGenerator<Samples, void> {
  const range = storedRange(wanted, newest);
  for await (const { times, values } of reading.all(key, range, 'asc', signal)) {
    let first = 0;
    let end = times.length;
    while (first < end && Number(times[first]) < range.from) first++;
    while (end > first && Number(times[end - 1]) >= range.to) end--;
    if (first < end) yield { labels, times, values, from: first, to: end };
  }
}

/** Starts a generator at once, so that its first item is computed before it is needed. */
function begun<T>(generator: AsyncGenerator<T, void>): AsyncGenerator<T, void> {
  const first = generator.next();
  // A failure is reported when the first item is read. It must not be an unhandled rejection until then.
  first.catch(() => {});
  async function* rest() {
    const { done, value } = await first;
    if (done) return;
    yield value as T;
    yield* generator;
  }
  return rest();
}
