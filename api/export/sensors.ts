import { groupOf, uuidBytes } from '../../schema/ids.js';

/** @import { Identity } from '../../schema/ids.js' */
/** @import { Reading } from '../history/reading/index.js' */
/** @import { Range, Sensor } from '../history/reading/hours.js' */
/** @import { LatestPlace } from '../store/devices/latest-pages.js' */
/** @import { LatestRow } from '../store/devices/latest-rows.js' */
/** @import { Store } from '../store/index.js' */
/** @import { Labels, Samples } from './rows.js' */

/** Number of sensors per page that is read from the registry. */
const PAGE = 100;

/**
 * Number of sensors whose first samples are read while the samples of another sensor are encoded. Reading ahead hides the
 * round trips of sensors with few samples.
 */
const SENSORS_AHEAD = 4;

/**
 * A sensor of an export.
 *
 * @typedef {object} ExportedSensor
 * @property {Sensor} key
 * @property {Labels} labels
 * @property {string | null} site
 * @property {number} newest epoch ms after which the sensor has no sample
 */

/**
 * @typedef {object} Selection the sensors to export; a sensor must match all properties that are set
 * @property {string} [site]
 * @property {string} [type]
 * @property {Identity} [device]
 */

/**
 * Lists the sensors of an export, device by device.
 *
 * @param {Pick<Store, 'fleet' | 'devices'>} store
 * @param {number} groups `LATEST_GROUPS`
 * @param {Selection} selection
 * @returns {AsyncGenerator<ExportedSensor, void>}
 */
export async function* listSensors(store, groups, { site, type, device }) {
  const filter = { site, type };
  const key = device && { group: groupOf(device.bytes, groups), bytes: device.bytes };
  /** @param {Parameters<Store['fleet']['latestPage']>[0]} page */
  const readPage = (page) => (key ? store.fleet.latestPageOfDevice(key, page) : store.fleet.latestPage(page));
  const retirement = createRetirementLookUp(store, groups);
  /** @type {LatestPlace | null} */
  let after = null;
  do {
    /** @type {{ rows: LatestRow[], next: LatestPlace | null }} */
    const { rows, next } = await readPage({ filter, after, limit: PAGE });
    for (const row of rows) {
      const wasRetired = await retirement(row.deviceId);
      // A retirement removes the newest value from `latest` but no samples. So `latest` may have an earlier time than the newest sample.
      const newest = wasRetired ? Number.POSITIVE_INFINITY : row.ts;
      if (newest !== null) yield exportedSensor(row, newest, groups);
    }
    after = next;
  } while (after);
}

/**
 * Creates a function that returns whether a device was ever retired. It caches the result for the last device, since the
 * sensors of a device follow each other.
 *
 * @param {Pick<Store, 'devices'>} store
 * @param {number} groups
 * @returns {(deviceId: string) => Promise<boolean>}
 */
function createRetirementLookUp(store, groups) {
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

/** @param {LatestRow} row @param {number} newest see `ExportedSensor` @param {number} groups `LATEST_GROUPS` @returns {ExportedSensor} */
export function exportedSensor(row, newest, groups) {
  const device = uuidBytes(row.deviceId);
  return {
    key: { group: groupOf(device, groups), device, sensor: uuidBytes(row.id) },
    labels: labelsOf(row, row.deviceId, row.id),
    site: row.site,
    newest,
  };
}

/**
 * @param {Pick<LatestRow, 'deviceName' | 'name' | 'type' | 'unit'>} row
 * @param {string} deviceId
 * @param {string} sensorId
 * @returns {Labels}
 */
export const labelsOf = ({ deviceName, name, type, unit }, deviceId, sensorId) => ({
  device: deviceName ?? deviceId,
  sensor: name ?? sensorId,
  type,
  unit,
});

/**
 * Reads the samples of sensors, one sensor after the other, oldest first.
 *
 * @param {Pick<Reading, 'all'>} reading
 * @param {AsyncIterable<ExportedSensor> | Iterable<ExportedSensor>} sensors
 * @param {Range} range within retention
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<Samples, void>}
 */
export async function* readSensors(reading, sensors, range, signal) {
  /** @type {Array<AsyncGenerator<Samples, void>>} */
  const opened = [];
  for await (const sensor of sensors) {
    opened.push(begun(readSensor(reading, sensor, range, signal)));
    if (opened.length > SENSORS_AHEAD) yield* /** @type {AsyncGenerator<Samples>} */ (opened.shift());
  }
  for (const samples of opened) yield* samples;
}

/** @param {Pick<Reading, 'all'>} reading @param {ExportedSensor} sensor @param {Range} range @param {AbortSignal} signal @returns {AsyncGenerator<Samples, void>} */
async function* readSensor(reading, { key, labels, newest }, { from, to }, signal) {
  const range = { from, to: Math.min(to, newest + 1) };
  for await (const { times, values } of reading.all(key, range, 'asc', signal)) {
    let first = 0;
    let end = times.length;
    while (first < end && Number(times[first]) < range.from) first++;
    while (end > first && Number(times[end - 1]) >= range.to) end--;
    if (first < end) yield { labels, times, values, from: first, to: end };
  }
}

/**
 * Starts a generator at once, so that its first item is computed before it is needed.
 *
 * @template T
 * @param {AsyncGenerator<T, void>} generator
 * @returns {AsyncGenerator<T, void>} generator of the same items
 */
function begun(generator) {
  const first = generator.next();
  // A failure is reported when the first item is read. It must not be an unhandled rejection until then.
  first.catch(() => {});
  async function* rest() {
    const { done, value } = await first;
    if (done) return;
    yield/** @type {T} */ (value);
    yield* generator;
  }
  return rest();
}
