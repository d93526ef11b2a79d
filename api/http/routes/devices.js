import { z } from 'zod';
import { MillraceError } from '../../../common/errors.js';
import { formatTime } from '../../../common/times.js';
import { groupOf } from '../../../schema/ids.js';
import { audit } from '../audit.js';
import { deviceItem, isOnline, sensorItem } from '../items.js';
import { fields, readDevice, readQuery, readSensor } from '../parameters.js';

export const LIST = {
  limit: fields.limit,
  cursor: fields.cursor,
  state: z
    .enum(['online', 'offline'], 'online or offline')
    .optional()
    .meta({ description: 'Those that are, or are not, there now.' }),
  site: fields.name.meta({ description: 'Those of this site.' }),
  name: fields.name.meta({ description: 'Those whose name begins like this.', example: 'my-' }),
};

/**
 * `GET /devices`: all devices, page by page.
 *
 * @param {import('../api.js').RouteParts} parts
 * @returns {import('express').RequestHandler}
 */
export const getDevices =
  ({ store, cursors, clock }) =>
  async (req, res) => {
    const { limit, cursor, state, site, name } = readQuery(req, LIST);
    const scope = JSON.stringify(['devices', state, site, name]);
    const now = clock();
    /** @param {import('../../store/registry/rows.js').DeviceRow} row */
    const accept = (row) =>
      (state === undefined || isOnline(row, now) === (state === 'online')) &&
      (name === undefined || (row.name ?? '').startsWith(name));
    const { rows, next } = await store.fleet.devicePage({
      site,
      accept: state === undefined && name === undefined ? null : accept,
      after: cursor === undefined ? null : cursors.open(scope, cursor),
      limit,
    });
    res.json({
      items: rows.map((row) => deviceItem(row, now)),
      next: next && cursors.seal(scope, next),
    });
  };

/**
 * `GET /devices/{device}`: one device with its sensors.
 *
 * @param {import('../api.js').RouteParts} parts
 * @returns {import('express').RequestHandler}
 */
export const getDevice =
  ({ store, groups, clock }) =>
  async (req, res) => {
    readQuery(req, {});
    const { id, bytes } = readDevice(String(req.params['device']));
    const key = { group: groupOf(bytes, groups), bytes };
    const [device, sensors] = await Promise.all([store.devices.device(key), store.fleet.latestOfDevice(key)]);
    if (!device) throw noSuchDevice();
    res.json({
      ...deviceItem({ ...device, id }, clock()),
      registered_at: formatTime(device.registeredAt),
      sensors: sensors.map(sensorItem),
    });
  };

/**
 * `DELETE /devices/{device}`: retires it.
 *
 * @param {import('../api.js').RouteParts} parts
 * @returns {import('express').RequestHandler}
 */
export const deleteDevice =
  ({ retire, logger }) =>
  async (req, res) => {
    readQuery(req, {});
    const name = String(req.params['device']);
    if (!(await retire(readDevice(name)))) throw noSuchDevice();
    audit(logger, res, 'a device was retired', name);
    res.status(204).end();
  };

/**
 * `GET /devices/{device}/sensors/{sensor}`
 *
 * @param {import('../api.js').RouteParts} parts
 * @returns {import('express').RequestHandler}
 */
export const getSensor = (parts) => async (req, res) => {
  readQuery(req, {});
  const { deviceId, row } = await findSensor(parts, req.params);
  res.json({ device_id: deviceId, ...sensorItem(row) });
};

/**
 * @param {Pick<import('../api.js').RouteParts, 'store' | 'groups'>} parts
 * @param {import('express').Request['params']} params
 * @throws {MillraceError} `bad_id`, `not_found`
 */
export async function findSensor({ store, groups }, params) {
  const device = readDevice(String(params['device']));
  const sensor = readSensor(device.id, String(params['sensor']));
  const group = groupOf(device.bytes, groups);
  const [row] = await store.fleet.latestOfSensors(group, [{ device: device.bytes, sensor: sensor.bytes }]);
  if (!row) throw new MillraceError('not_found', 'There is no such sensor.');
  const key = { group, device: device.bytes, sensor: sensor.bytes };
  return { deviceId: device.id, sensorId: sensor.id, key, row };
}

/**
 * A sensor, and how far its samples reach. That is what `latest` says, unless its device was retired: what came before
 * stays until it expires, and `latest` begins anew, maybe with less than that.
 *
 * @param {import('../api.js').RouteParts} parts
 * @param {import('express').Request['params']} params
 * @returns {Promise<Awaited<ReturnType<typeof findSensor>> & { newest: number | null }>} `newest`: epoch ms, after which there is
 *   nothing; null: there is nothing at all
 * @throws {MillraceError} `bad_id`, `not_found`
 */
export async function findMeasured(parts, params) {
  const found = await findSensor(parts, params);
  const { group, device } = found.key;
  // Behind the sensor: who reads of one that came back reads of the retirement, too.
  const retiredAt = await parts.store.devices.retiredAt({ group, bytes: device });
  return { ...found, newest: retiredAt === null ? found.row.ts : Number.POSITIVE_INFINITY };
}

export const noSuchDevice = () => new MillraceError('not_found', 'There is no such device.');
