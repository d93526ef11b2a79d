import { z } from 'zod';
import { MillraceError } from '../../../common/errors.js';
import { formatTime } from '../../../common/times.js';
import { groupOf } from '../../../schema/ids.js';
import { DAY_MS } from '../../../schema/rules.js';
import { audit } from '../audit.js';
import { json, PAGED } from '../contract/operation.js';
import { SCHEMAS } from '../contract/schemas.js';
import { deviceItem, eventItem, isOnline, sensorItem } from '../items.js';
import { fields, parseDevice, parseSensor, readQuery } from '../parameters.js';

/** @import { Request, RequestHandler } from 'express' */
/** @import { DeviceRow } from '../../store/registry/rows.js' */
/** @import { RouteDeps } from '../api.js' */
/** @import { Operation } from '../contract/operation.js' */

const EVENTS_QUERY = {
  limit: fields.limit,
  cursor: fields.cursor,
  from: fields.from,
  to: fields.to,
};

export const LIST = {
  limit: fields.limit,
  cursor: fields.cursor,
  state: z
    .enum(['online', 'offline'], 'online or offline')
    .optional()
    .meta({ description: 'Devices that are online or offline now.' }),
  site: fields.name.meta({ description: 'Devices of this site.' }),
  name: fields.name.meta({ description: 'Devices whose name begins with this text.', example: 'my-' }),
};

/**
 * `GET /devices`: all devices, page by page.
 *
 * @param {RouteDeps} deps
 * @returns {RequestHandler}
 */
export const getDevices =
  ({ store, cursors, clock }) =>
  async (req, res) => {
    const { limit, cursor, state, site, name } = readQuery(req, LIST);
    const scope = JSON.stringify(['devices', state, site, name]);
    const now = clock();
    /** @param {DeviceRow} row */
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
 * @param {RouteDeps} deps
 * @returns {RequestHandler}
 */
export const getDevice =
  ({ store, groups, clock }) =>
  async (req, res) => {
    readQuery(req, {});
    const { id, bytes } = parseDevice(String(req.params['device']));
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
 * @param {RouteDeps} deps
 * @returns {RequestHandler}
 */
export const deleteDevice =
  ({ retire, logger }) =>
  async (req, res) => {
    readQuery(req, {});
    const name = String(req.params['device']);
    if (!(await retire(parseDevice(name)))) throw noSuchDevice();
    audit(logger, res, 'a device was retired', name);
    res.status(204).end();
  };

/**
 * `GET /devices/{device}/sensors/{sensor}`
 *
 * @param {RouteDeps} deps
 * @returns {RequestHandler}
 */
export const getSensor = (deps) => async (req, res) => {
  readQuery(req, {});
  const { deviceId, row } = await findSensor(deps, req.params);
  res.json({ device_id: deviceId, ...sensorItem(row) });
};

/**
 * @param {Pick<RouteDeps, 'store' | 'groups'>} deps
 * @param {Request['params']} params
 * @throws {MillraceError} `bad_id`, `not_found`
 */
export async function findSensor({ store, groups }, params) {
  const device = parseDevice(String(params['device']));
  const sensor = parseSensor(device.id, String(params['sensor']));
  const group = groupOf(device.bytes, groups);
  const [row] = await store.fleet.latestOfSensors(group, [{ device: device.bytes, sensor: sensor.bytes }]);
  if (!row) throw new MillraceError('not_found', 'There is no such sensor.');
  const key = { group, device: device.bytes, sensor: sensor.bytes };
  return { deviceId: device.id, sensorId: sensor.id, key, row };
}

/**
 * Finds a sensor and the time of its newest sample. `latest` has that time, except if the device was retired. Then older samples
 * stay until they expire, and `latest` may have an earlier time than they.
 *
 * @param {RouteDeps} deps
 * @param {Request['params']} params
 * @returns {Promise<Awaited<ReturnType<typeof findSensor>> & { newest: number | null }>} `newest` in epoch ms:
 *   no sample is later; null: there are no samples
 * @throws {MillraceError} `bad_id`, `not_found`
 */
export async function findMeasured(deps, params) {
  const found = await findSensor(deps, params);
  const { group, device } = found.key;
  // Read after the sensor: if the device came back, this read sees the retirement.
  const retiredAt = await deps.store.devices.retiredAt({ group, bytes: device });
  return { ...found, newest: retiredAt === null ? found.row.ts : Number.POSITIVE_INFINITY };
}

export const noSuchDevice = () => new MillraceError('not_found', 'There is no such device.');

/** @type {Operation} */
export const listDevices = {
  id: 'listDevices',
  tag: 'devices',
  scope: 'read',
  summary: 'All devices, page by page',
  description: `With \`site\` the database reads only the devices of the answer. With \`state\` or \`name\` it reads up to 1,000
devices for one page, because there is no index of states or device names. So a page may be short, even empty, before the end.`,
  query: LIST,
  answers: { 200: json(SCHEMAS.DevicePage) },
  links: { device: { to: 'readDevice', parameters: { device: '$response.body#/items/0/device_id' } } },
  problems: PAGED,
};

/** @type {Operation} */
export const readDevice = {
  id: 'readDevice',
  tag: 'devices',
  scope: 'read',
  summary: 'One device with its sensors',
  answers: { 200: json(SCHEMAS.DeviceWithSensors) },
  links: {
    measurements: {
      to: 'listMeasurements',
      parameters: { device: '$response.body#/device_id', sensor: '$response.body#/sensors/0/sensor_id' },
    },
  },
  problems: ['bad_parameter', 'bad_id', 'not_found', 'unavailable'],
};

/** @type {Operation} */
export const retireDevice = {
  id: 'retireDevice',
  tag: 'devices',
  scope: 'admin',
  summary: 'Retires a device',
  description: `Removes the device from all pages, counts and indexes, and revokes its credential. Its samples stay until they expire. If
the device comes back, it registers again: at once at this process, and within ten minutes at other processes. After 503 the retirement
may be half done. Repeat it.`,
  answers: { 204: {} },
  problems: ['bad_parameter', 'bad_id', 'not_found', 'unavailable'],
};

/** @type {Operation} */
export const listEvents = {
  id: 'listEvents',
  tag: 'devices',
  scope: 'read',
  summary: 'The events of a device, newest first, page by page',
  description: `\`birth\` and \`online\` have the start time of the session, as the device sent it. \`offline\` has the time of
receipt. Sessions are in the order of their start times.`,
  query: EVENTS_QUERY,
  answers: { 200: json(SCHEMAS.EventPage) },
  problems: [...PAGED, 'bad_range', 'bad_id', 'not_found'],
};

/** @type {Operation} */
export const readSensor = {
  id: 'readSensor',
  tag: 'devices',
  scope: 'read',
  summary: 'One sensor with its latest value',
  answers: { 200: json(SCHEMAS.SensorOfDevice) },
  problems: ['bad_parameter', 'bad_id', 'not_found', 'unavailable'],
};

/**
 * `GET /devices/{device}/events`: births, online and offline times of a device, newest first.
 *
 * @param {RouteDeps} deps
 * @returns {RequestHandler}
 */
export const getEvents =
  ({ store, cursors, groups, clock, historyDays, maxClockSkewMs }) =>
  async (req, res) => {
    const { limit, cursor, from, to } = readQuery(req, EVENTS_QUERY);
    if (from !== undefined && to !== undefined && from > to) {
      throw new MillraceError('bad_range', 'from is after to; a range is half-open, [from, to).');
    }
    const now = clock();
    const range = {
      from: Math.max(from ?? 0, now - historyDays * DAY_MS),
      // Other processes' clocks may be ahead of ours.
      to: Math.min(to ?? Number.POSITIVE_INFINITY, now + maxClockSkewMs),
    };
    const { id, bytes } = parseDevice(String(req.params['device']));
    if (!(await store.devices.device({ group: groupOf(bytes, groups), bytes }))) throw noSuchDevice();
    const scope = JSON.stringify(['events', id, from, to]);
    const after = cursor === undefined ? null : cursors.open(scope, cursor);
    const { events, next } = await store.deviceEvents.page(bytes, range, { after, limit });
    res.json({ items: events.map(eventItem), next: next && cursors.seal(scope, next) });
  };
