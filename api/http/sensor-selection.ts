import { setImmediate as nextTurn } from 'node:timers/promises';
import { forEachConcurrently } from '../../common/concurrency.js';
import { MillraceError } from '../../common/errors.js';
import { groupOf, identifySensor, uuidBytes } from '../../schema/ids.js';
import { bucketOf } from '../../schema/rules.js';
import { parseDevice } from './parameters.js';
import { noSuchDevice } from './routes/devices.js';

/** @import { AlignedSensor } from '../history/reading/aligned.js' */
/** @import { LatestRow } from '../store/devices/latest-rows.js' */
/** @import { RouteDeps } from './api.js' */

/**
 * Sensors that a request selects. A sensor must match all conditions.
 *
 * @typedef {object} Selection
 * @property {string[]} devices ids or names; empty: all devices
 * @property {string[]} sensors ids or names; empty: all sensors of these devices
 * @property {string | undefined} site
 * @property {string | undefined} type
 */

/** @typedef {AlignedSensor & { row: LatestRow }} SelectedSensor */

/** Limit of groups or devices that are read concurrently. */
const AT_ONCE = 8;

const PAGE = 1000;

/** Time after which other requests get a turn. Thirty patterns may take a millisecond for each sensor. */
const MAX_TURN_MS = 10;

/**
 * Finds the sensors of a selection, each with the time of its newest sample. No sample of the sensor is later than that time.
 *
 * @param {Pick<RouteDeps, 'store' | 'groups'>} deps
 * @param {Selection} selection
 * @param {object} options
 * @param {number} options.limit maximum number of sensors
 * @param {number} options.to end of the range that will be read, in epoch ms
 * @param {AbortSignal} options.signal
 * @param {number} [options.maxRead] maximum number of sensors that are read to find those that match; default: the whole fleet
 * @param {(row: LatestRow) => boolean} [options.accepts] a further condition; default: every sensor
 * @param {boolean} [options.skipsUnknown] whether to skip devices that do not exist; default: they are an error
 * @returns {Promise<SelectedSensor[]>} sensors in no particular order
 * @throws {MillraceError} `bad_id`; `not_found`: a device does not exist, unless `skipsUnknown`; `query_too_large`
 */
export async function selectSensors({ store, groups }, { devices, sensors, site, type }, options) {
  const { limit, to, signal, maxRead = Infinity, accepts = () => true, skipsUnknown = false } = options;
  let read = 0;
  /** @type {SelectedSensor[]} */
  const found = [];
  const wanted = sensorTest(sensors);
  const filter = { type, site };

  /** @param {LatestRow[]} rows */
  async function add(rows) {
    let begin = performance.now();
    read += rows.length;
    if (read > maxRead)
      throw new MillraceError(
        'query_too_large',
        `The query reads more than ${maxRead} sensors to find those that match. Narrow it down by device, site or type.`,
      );
    for (const row of rows) {
      if (performance.now() - begin > MAX_TURN_MS) {
        await nextTurn();
        signal.throwIfAborted();
        begin = performance.now();
      }
      if (!wanted(row) || !accepts(row)) continue;
      if (found.length === limit) {
        throw new MillraceError(
          'query_too_large',
          `The query selects more than ${limit} sensors. Narrow it down by device, site, type or sensor.`,
        );
      }
      const device = uuidBytes(row.deviceId);
      const key = { group: groupOf(device, groups), device, sensor: uuidBytes(row.id) };
      found.push({ key, row, newest: row.ts });
    }
  }

  if (devices.length > 0) {
    // A name and an id may mean the same device, so devices are collected by id.
    const identities = new Map(devices.map(parseDevice).map((device) => [device.id, device]));
    await forEachConcurrently(AT_ONCE, identities.values(), async ({ bytes }) => {
      const key = { group: groupOf(bytes, groups), bytes };
      const rows = await store.fleet.latestOfDevice(key);
      if (rows.length === 0 && !skipsUnknown && !(await store.devices.device(key))) throw noSuchDevice();
      await add(rows.filter((row) => matches(row, filter)));
    });
  } else {
    await forEachConcurrently(AT_ONCE, Array(groups).keys(), async (group) => {
      /** @type {Parameters<typeof store.fleet.latestPage>[0]['after']} */
      let after = { group };
      do {
        signal.throwIfAborted();
        const { rows, next } = await store.fleet.latestPage({ filter, after, limit: PAGE }, group + 1);
        await add(rows);
        after = next;
      } while (after);
    });
  }
  await coverRetired(store, found, to);
  return found;
}

/** A device id to test whether a text is a valid sensor id or name. No device has this id. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** @param {LatestRow} row @param {{ type: string | undefined, site: string | undefined }} filter */
const matches = (row, { type, site }) =>
  (type === undefined || row.type === type) && (site === undefined || row.site === site);

/** @param {string[]} sensors @returns {(row: LatestRow) => boolean} @throws {MillraceError} `bad_id` */
function sensorTest(sensors) {
  if (sensors.length === 0) return () => true;
  for (const text of sensors)
    if (!identifySensor(NOBODY, text)) throw new MillraceError('bad_id', `${text} is not a sensor.`);
  const names = new Set(sensors);
  // A sensor id is a digest that depends on its device, so the ids are computed for each device. The rows of a device follow
  // each other.
  let device = '';
  /** @type {Set<string | undefined>} */
  let ids = new Set();
  return (row) => {
    if (row.name !== null && names.has(row.name)) return true;
    if (row.deviceId !== device) {
      device = row.deviceId;
      ids = new Set(sensors.map((text) => identifySensor(device, text)?.id));
    }
    return ids.has(row.id);
  };
}

/**
 * Corrects the newest times of sensors whose device was retired and registered again. Such a device may have later samples than
 * the table `latest` shows. Only sensors whose newest sample is before the end of the range are checked. The other sensors have
 * samples until that end, so their newest time has no effect.
 *
 * @param {RouteDeps['store']} store
 * @param {SelectedSensor[]} sensors changed in place
 * @param {number} to epoch ms
 */
async function coverRetired(store, sensors, to) {
  const silent = sensors.filter(({ newest }) => newest === null || bucketOf(newest) < bucketOf(to - 1));
  const devices = new Map(silent.map(({ key, row }) => [row.deviceId, key]));
  /** @type {Set<string>} */
  const retired = new Set();
  await forEachConcurrently(AT_ONCE, devices, async ([id, { group, device }]) => {
    if ((await store.devices.retiredAt({ group, bytes: device })) !== null) retired.add(id);
  });
  for (const sensor of sensors) {
    const isSilent = sensor.newest === null || bucketOf(sensor.newest) < bucketOf(to - 1);
    if (!isSilent || retired.has(sensor.row.deviceId)) sensor.newest = Number.POSITIVE_INFINITY;
  }
}
