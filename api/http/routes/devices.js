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
/** @import { RouteParts } from '../api.js' */
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
    .meta({ description: 'Those that are, or are not, there now.' }),
  site: fields.name.meta({ description: 'Those of this site.' }),
  name: fields.name.meta({ description: 'Those whose name begins like this.', example: 'my-' }),
};

/**
 * `GET /devices`: all devices, page by page.
 *
 * @param {RouteParts} parts
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
 * @param {RouteParts} parts
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
 * @param {RouteParts} parts
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
 * @param {RouteParts} parts
 * @returns {RequestHandler}
 */
export const getSensor = (parts) => async (req, res) => {
  readQuery(req, {});
  const { deviceId, row } = await findSensor(parts, req.params);
  res.json({ device_id: deviceId, ...sensorItem(row) });
};

/**
 * @param {Pick<RouteParts, 'store' | 'groups'>} parts
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
 * A sensor, and how far its samples reach. That is what `latest` says, unless its device was retired: what came before
 * stays until it expires, and `latest` begins anew, maybe with less than that.
 *
 * @param {RouteParts} parts
 * @param {Request['params']} params
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

/** @type {Operation} */
export const listDevices = {
  id: 'listDevices',
  tag: 'devices',
  scope: 'read',
  summary: 'All devices, page by page',
  description: `With \`site\`, as many are read as are answered. With \`state\` or \`name\`, up to 1,000 are looked at for one page, which may
then be short, even empty, before the end: whether a device is online is known only by looking, and only sensors have an index of names.`,
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
  description: `It is gone from all pages, counts and indexes; its samples expire, and its account at the broker is taken away. If it comes back it registers anew: at once where
this process takes its messages, within ten minutes where another one does that still knows it. A retirement that was
answered 503 may be half done: repeat it.`,
  answers: { 204: {} },
  problems: ['bad_parameter', 'bad_id', 'not_found', 'unavailable'],
};

/** @type {Operation} */
export const listEvents = {
  id: 'listEvents',
  tag: 'devices',
  scope: 'read',
  summary: 'What became of a device, newest first, page by page',
  description: `Births and \`online\` have the time at which the device's session began, as the device told it; \`offline\` the time at which we
heard of it. Sessions come in order of their beginning.`,
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
 * `GET /devices/{device}/events`: its births, and when it was online and offline, newest first.
 *
 * @param {RouteParts} parts
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
