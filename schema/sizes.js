/**
 * The storage needs of a fleet: the arithmetic behind the tables at the end of docs/explanation/data-model.md. A test compares the two. All sizes are
 * for one copy, before the compression of the server. The keyspace sets the number of copies in a cluster.
 */
import { devicePerHour, HOUR_MS, MAX_SAMPLES_PER_HISTORY_ROW, partitionPerHour } from './rules.js';

const DAY_HOURS = 24;
const YEAR_HOURS = 366 * DAY_HOURS;

/**
 * Bytes of a row on disk, without compression and blob: what Cassandra 5.0 was seen to write, rounded up. Names of 10 to
 * 15 characters.
 */
const ROW_BYTES = { history: 35, historyStat: 80, sensor: 115, latest: 10, device: 80, index: 47 };

/** Bytes of one sensor's entry in a row of `latest` on disk, as Cassandra 5.0 wrote it. */
export const LATEST_ENTRY_BYTES = 60;

/** Bytes of a packed sample, decimals of two digits by a clock that jitters by 20 ms: the fewer in an hour, the more each. */
export const PACKED_BYTES = [
  { atLeastAnHour: 3600, bytes: 1.3 },
  { atLeastAnHour: 60, bytes: 2.3 },
  { atLeastAnHour: 0, bytes: 13 },
];

/** Sensors whose hours one process can pack in addition to its ingest, at any rate. */
export const PACKED_BY_ONE = 10_000;

/** The largest group of `sensor`: below 10 MB, and below the 100,000 rows at which ScyllaDB warns. */
export const ROWS_PER_GROUP = 62_500;

/** The largest LATEST_GROUPS. */
export const MOST_GROUPS = 65_536;

/**
 * @typedef {object} Fleet
 * @property {number} sensors
 * @property {number} sensorsPerDevice
 * @property {number} intervalMs between two samples of a sensor
 * @property {number} batchMs between two messages of a device
 * @property {number} batchDays `BATCH_DAYS`
 * @property {number} historyDays `HISTORY_DAYS`
 */

/**
 * The rates of a fleet in each second.
 *
 * @param {Fleet} fleet
 * @returns {{ samples: number, messages: number, packedHours: number }} `packedHours`: hours of single
 *   sensors that the packer has to keep up with
 */
export function ratesOf({ sensors, sensorsPerDevice, intervalMs, batchMs }) {
  const messages = sensors / sensorsPerDevice / (Math.max(intervalMs, batchMs) / 1000);
  return {
    samples: sensors / (intervalMs / 1000),
    messages,
    packedHours: sensors / (HOUR_MS / 1000),
  };
}

/** Rows, bytes and partitions of one table. @typedef {{ rows: number, bytes: number, partitions: number }} TableSize */

/**
 * The content of each table when the first of its rows expires.
 *
 * @param {Fleet} fleet
 * @returns {Record<'message' | 'history' | 'history_stat' | 'sensor' | 'latest' | 'device' | 'indexes', TableSize>}
 */
export function tablesOf(fleet) {
  const { sensors, sensorsPerDevice, intervalMs, batchMs, batchDays, historyDays } = fleet;
  const devices = sensors / sensorsPerDevice;
  const groups = groupsFor(sensors);
  const hour = devicePerHour({ sensors: sensorsPerDevice, intervalMs, batchMs });
  const batchHours = devices * batchDays * DAY_HOURS;
  const historyHours = sensors * historyDays * DAY_HOURS;
  /** @param {number} rows @param {number} rowBytes @param {number} partitions */
  const size = (rows, rowBytes, partitions) => ({ rows, bytes: rows * rowBytes, partitions });
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
    // By type, by site, by name; of a few dozen types and sites each.
    indexes: size(3 * sensors, ROW_BYTES.index, 3 * groups),
  };
}

/** @param {number} devices @param {number} sensors */
const latestBytes = (devices, sensors) => devices * ROW_BYTES.latest + sensors * LATEST_ENTRY_BYTES;

/** @param {number} days @returns {number} calendar years that so many days reach into, at most: one more than they are long */
export const calendarYearsOf = (days) => Math.ceil(days / 365.25) + 1;

/**
 * The largest partitions, each to be compared with PARTITION_AIM.
 *
 * @param {Fleet} fleet
 * @returns {Record<'message' | 'history' | 'history_stat' | 'sensor' | 'latest', { rows: number, bytes: number }>}
 */
export function partitionsOf({ sensors, sensorsPerDevice, intervalMs, batchMs }) {
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

/**
 * The LATEST_GROUPS that a fleet needs: a power of two, so that groups stay small and every process that packs gets one,
 * since a group is what a lease is for.
 *
 * @param {number} sensors
 */
export function groupsFor(sensors) {
  const needed = Math.max(16, sensors / ROWS_PER_GROUP, packersFor(sensors));
  return Math.min(MOST_GROUPS, 2 ** Math.ceil(Math.log2(needed)));
}

/** @param {number} sensors @returns {number} processes that pack them */
export const packersFor = (sensors) => Math.ceil(sensors / PACKED_BY_ONE);

/** @param {number} intervalMs @returns {number} bytes of one hour of a sensor in `history` */
export function historyRowBytes(intervalMs) {
  const samples = Math.max(1, HOUR_MS / intervalMs);
  const rows = Math.ceil(samples / MAX_SAMPLES_PER_HISTORY_ROW);
  const { bytes = 0 } = PACKED_BYTES.find(({ atLeastAnHour }) => samples >= atLeastAnHour) ?? {};
  return rows * ROW_BYTES.history + samples * bytes;
}
