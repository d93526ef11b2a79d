import { setImmediate as nextTurn } from 'node:timers/promises';
import { forEachConcurrently } from '../../../../common/concurrency.ts';
import { MillraceError } from '../../../../common/errors.ts';
import { groupOf, identifySensor, uuidBytes } from '../../../../schema/ids.ts';
import { bucketOf } from '../../../../schema/rules.ts';
import { noSuchDevice, parseDevice } from '../../../http/index.ts';
import type { Place } from '../../../http/places.ts';
import type { RouteCore } from '../../../http/route.ts';
import type { LatestRow } from '../../../store/devices/latest-rows.ts';
import type { AlignedSensor } from './aligned.ts';

interface Selection {
  /** ids or names; empty: all devices */
  devices: string[];
  /** ids or names; empty: all sensors of these devices */
  sensors: string[];
  site: string | undefined;
  type: string | undefined;
}

/** `place`: of a sensor that counts by its place */
export type SelectedSensor = AlignedSensor & { row: LatestRow; place?: Place | null };

const AT_ONCE = 8;

const PAGE = 1000;

/** In ms. Thirty patterns may take a millisecond for each sensor, so other requests get a turn. */
const MAX_TURN_MS = 10;

/**
 * Sensors in no particular order, each with a time after which it has no sample.
 * @throws `bad_id`; `not_found` for a missing device, unless `skipsUnknown`; `query_too_large`
 */
export async function selectSensors(
  { store }: Pick<RouteCore, 'store'>,
  { devices, sensors, site, type }: Selection,
  options: {
    /** maximum number of sensors that match */
    limit: number;
    /** end of the range that will be read, in epoch ms */
    to: number;
    signal: AbortSignal;
    /** of sensors that are read to find those that match; default: the whole fleet */
    maxRead?: number;
    accepts?: (row: LatestRow) => boolean;
    /** default: a device that does not exist is an error */
    skipsUnknown?: boolean;
  },
): Promise<SelectedSensor[]> {
  const { limit, to, signal, maxRead = Infinity, accepts = () => true, skipsUnknown = false } = options;
  let read = 0;
  const found: SelectedSensor[] = [];
  const wanted = sensorTest(sensors);
  const filter = { type, site };

  async function add(rows: LatestRow[]) {
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
      const key = { group: groupOf(device, store.groups), device, sensor: uuidBytes(row.id) };
      found.push({ key, row, newest: row.ts });
    }
  }

  if (devices.length > 0) {
    // A name and an id may mean the same device, so devices are collected by id.
    const identities = new Map(devices.map(parseDevice).map((device) => [device.id, device]));
    await forEachConcurrently(AT_ONCE, identities.values(), async ({ bytes }) => {
      const key = { group: groupOf(bytes, store.groups), bytes };
      const rows = await store.fleet.latestOfDevice(key);
      if (rows.length === 0 && !skipsUnknown && !(await store.devices.device(key))) throw noSuchDevice();
      await add(rows.filter((row) => matches(row, filter)));
    });
  } else {
    await forEachConcurrently(AT_ONCE, Array(store.groups).keys(), async (group) => {
      let after: Parameters<typeof store.fleet.latestPage>[0]['after'] = { group };
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

/** No device has this id. It only tests whether a text is a valid sensor id or name. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

const matches = (row: LatestRow, { type, site }: { type: string | undefined; site: string | undefined }) =>
  (type === undefined || row.type === type) && (site === undefined || row.site === site);

/** @throws `bad_id` */
function sensorTest(sensors: string[]): (row: LatestRow) => boolean {
  if (sensors.length === 0) return () => true;
  for (const text of sensors)
    if (!identifySensor(NOBODY, text)) throw new MillraceError('bad_id', `${text} is not a sensor.`);
  const names = new Set(sensors);
  // A sensor id is a digest that depends on its device, so the ids are computed for each device. The rows of a device follow each other.
  let device = '';
  let ids: Set<string | undefined> = new Set();
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
 * A device that was retired and registered again may have later samples than the table `latest` shows. So the newest times of its sensors
 * are corrected in place. Only sensors whose newest sample is before the end of the range (`to`, epoch ms) are checked. The other sensors
 * have samples until that end, so their newest time has no effect.
 */
async function coverRetired(store: RouteCore['store'], sensors: SelectedSensor[], to: number) {
  const silent = sensors.filter(({ newest }) => newest === null || bucketOf(newest) < bucketOf(to - 1));
  const devices = new Map(silent.map(({ key, row }) => [row.deviceId, key]));
  const retired: Set<string> = new Set();
  await forEachConcurrently(AT_ONCE, devices, async ([id, { group, device }]) => {
    if ((await store.devices.retiredAt({ group, bytes: device })) !== null) retired.add(id);
  });
  for (const sensor of sensors) {
    const isSilent = sensor.newest === null || bucketOf(sensor.newest) < bucketOf(to - 1);
    if (!isSilent || retired.has(sensor.row.deviceId)) sensor.newest = Number.POSITIVE_INFINITY;
  }
}

/** Orders by the names of device and sensor, then by their ids. */
export function byNames({ row: a }: SelectedSensor, { row: b }: SelectedSensor): number {
  const pairs = [
    [a.deviceName ?? a.deviceId, b.deviceName ?? b.deviceId],
    [a.deviceId, b.deviceId],
    [a.name ?? '', b.name ?? ''],
    [a.id, b.id],
  ] as const;
  const [keyA, keyB] = pairs.find(([one, other]) => one !== other) ?? ['', ''];
  return keyA < keyB ? -1 : Number(keyA > keyB);
}
