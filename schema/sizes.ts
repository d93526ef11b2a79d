/**
 * Calculates the storage that a fleet needs, for the tables at the end of docs/explanation/data-model.md. A test compares the tables with
 * this module. All sizes are for one copy, before the compression of the server. The keyspace sets the number of copies in a cluster.
 */
import { devicePerHour, HOUR_MS, MAX_SAMPLES_PER_HISTORY_ROW, partitionPerHour } from './rules.ts';

const DAY_HOURS = 24;
const YEAR_HOURS = 366 * DAY_HOURS;

/** Without the blob and before compression: measured with Cassandra 5.0 and names of 10 to 15 characters, rounded up. */
const ROW_BYTES = { history: 35, historyStat: 80, sensor: 115, latest: 10, device: 80, index: 47 };

/** A change in the log of the tree, and a day of roll-ups of a type. Measured as the rows. */
const ASSET_BYTES = { change: 100, day: 1350 };

/** Size for one sensor, on disk, measured with Cassandra 5.0. */
export const LATEST_ENTRY_BYTES = 60;

/** Fewer samples per hour take more bytes each. Measured for values with two decimal digits and times with a jitter of 20 ms. */
export const PACKED_BYTES = [
  { atLeastAnHour: 3600, bytes: 1.3 },
  { atLeastAnHour: 60, bytes: 2.3 },
  { atLeastAnHour: 0, bytes: 13 },
];

/** One process can pack the hours of so many sensors in any case, in addition to its ingest. */
export const PACKED_BY_ONE = 10_000;

/** For `sensor`: below 10 MB, and below the 100,000 rows at which ScyllaDB warns. */
export const ROWS_PER_GROUP = 62_500;

export const MOST_GROUPS = 65_536;

export interface Fleet {
  sensors: number;
  sensorsPerDevice: number;
  intervalMs: number;
  batchMs: number;
  batchDays: number;
  historyDays: number;
}

/** Per second. @returns `packedHours`: hours of single sensors that have to be packed */
export function ratesOf({ sensors, sensorsPerDevice, intervalMs, batchMs }: Fleet): {
  samples: number;
  messages: number;
  packedHours: number;
} {
  const messages = sensors / sensorsPerDevice / (Math.max(intervalMs, batchMs) / 1000);
  return {
    samples: sensors / (intervalMs / 1000),
    messages,
    packedHours: sensors / (HOUR_MS / 1000),
  };
}

type TableSize = { rows: number; bytes: number; partitions: number };

/** When the first rows of a table expire. From then on the size stays constant. */
export function tablesOf(
  fleet: Fleet,
): Record<'message' | 'history' | 'history_stat' | 'sensor' | 'latest' | 'device' | 'indexes', TableSize> {
  const { sensors, sensorsPerDevice, intervalMs, batchMs, batchDays, historyDays } = fleet;
  const devices = sensors / sensorsPerDevice;
  const groups = groupsFor(sensors);
  const hour = devicePerHour({ sensors: sensorsPerDevice, intervalMs, batchMs });
  const batchHours = devices * batchDays * DAY_HOURS;
  const historyHours = sensors * historyDays * DAY_HOURS;
  const size = (rows: number, rowBytes: number, partitions: number) => ({
    rows,
    bytes: rows * rowBytes,
    partitions,
  });
  return {
    message: {
      rows: batchHours * hour.rows,
      bytes: batchHours * hour.bytes,
      partitions: batchHours * hour.partitions,
    },
    history: size(historyHours, historyRowBytes(intervalMs), sensors * historyDays),
    history_stat: size(historyHours, ROW_BYTES.historyStat, sensors * calendarYearsOf(historyDays)),
    sensor: size(sensors, ROW_BYTES.sensor, groups),
    latest: { rows: devices, bytes: latestBytes(devices, sensors), partitions: groups },
    device: size(devices, ROW_BYTES.device, groups),
    // There are three indexes: by type, by site and by name. The estimate assumes a few dozen types and sites.
    indexes: size(3 * sensors, ROW_BYTES.index, 3 * groups),
  };
}

/** The log of a tree of assets, with the place of each device, and the roll-ups of each type of sensors. */
export function assetTablesOf(
  { sensors, sensorsPerDevice, historyDays }: Pick<Fleet, 'sensors' | 'sensorsPerDevice' | 'historyDays'>,
  { assets, types }: { assets: number; types: number },
): Record<'asset_change' | 'asset_stat', TableSize> {
  const changes = assets === 0 ? 0 : assets + sensors / sensorsPerDevice;
  const days = assets * types * historyDays;
  return {
    // Changes come in edits of up to 500, and a partition has 256 edits.
    asset_change: {
      rows: changes / CHANGES_PER_EDIT,
      bytes: changes * ASSET_BYTES.change,
      partitions: changes / CHANGES_PER_EDIT / EDITS_PER_PARTITION,
    },
    asset_stat: {
      rows: days,
      bytes: days * ASSET_BYTES.day,
      partitions: assets * types * calendarYearsOf(historyDays),
    },
  };
}

const CHANGES_PER_EDIT = 500;
const EDITS_PER_PARTITION = 256;

const latestBytes = (devices: number, sensors: number) =>
  devices * ROW_BYTES.latest + sensors * LATEST_ENTRY_BYTES;

/** The most calendar years that this many days touch: their length in years plus one. */
export const calendarYearsOf = (days: number): number => Math.ceil(days / 365.25) + 1;

export function partitionsOf({
  sensors,
  sensorsPerDevice,
  intervalMs,
  batchMs,
}: Fleet): Record<
  'message' | 'history' | 'history_stat' | 'sensor' | 'latest',
  { rows: number; bytes: number }
> {
  const sensorRows = Math.ceil(sensors / groupsFor(sensors));
  const deviceRows = Math.ceil(sensorRows / sensorsPerDevice);
  return {
    message: partitionPerHour({ sensors: sensorsPerDevice, intervalMs, batchMs }),
    history: { rows: DAY_HOURS, bytes: DAY_HOURS * historyRowBytes(intervalMs) },
    history_stat: { rows: YEAR_HOURS, bytes: YEAR_HOURS * ROW_BYTES.historyStat },
    sensor: { rows: sensorRows, bytes: sensorRows * ROW_BYTES.sensor },
    latest: { rows: deviceRows, bytes: latestBytes(deviceRows, sensorRows) },
  };
}

/** A power of two: groups stay small, and each packing process gets one, because processes divide the work by leases on groups. */
export function groupsFor(sensors: number) {
  const needed = Math.max(16, sensors / ROWS_PER_GROUP, packersFor(sensors));
  return Math.min(MOST_GROUPS, 2 ** Math.ceil(Math.log2(needed)));
}

export const packersFor = (sensors: number): number => Math.ceil(sensors / PACKED_BY_ONE);

export function historyRowBytes(intervalMs: number): number {
  const samples = Math.max(1, HOUR_MS / intervalMs);
  const rows = Math.ceil(samples / MAX_SAMPLES_PER_HISTORY_ROW);
  const { bytes = 0 } = PACKED_BYTES.find(({ atLeastAnHour }) => samples >= atLeastAnHour) ?? {};
  return rows * ROW_BYTES.history + samples * bytes;
}

const powerOf = (number: number) => Math.max(0, Math.floor(Math.log10(number) / 3));

/** Such as `48 kB`, `1.7 TB`. */
export const bytesText = (bytes: number): string =>
  `${short(bytes / 1000 ** powerOf(bytes))} ${['', 'k', 'M', 'G', 'T', 'P', 'E'][powerOf(bytes)]}B`;

/** Such as `960`, `9,600`, `17 thousand`, `2.6 billion`. */
export function countText(count: number): string {
  const power = count < 1e4 ? 0 : powerOf(count);
  return `${short(count / 1000 ** power)}${['', ' thousand', ' million', ' billion', ' trillion'][power]}`;
}

/** Two digits, or a whole number. */
const short = (number: number): string =>
  number >= 1000
    ? Math.round(number).toLocaleString('en')
    : String(Number(number.toPrecision(number < 100 ? 2 : 3)));
