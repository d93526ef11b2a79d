import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { MillraceError } from '../../../common/errors.ts';
import { formatTime } from '../../../common/times.ts';
import { groupOf, type Identity } from '../../../schema/ids.ts';
import type { Retirement } from '../../ingest/registry/index.ts';
import type { DevicePlace } from '../../store/devices/device-pages.ts';
import type { EventPlace } from '../../store/events.ts';
import type { DeviceRow } from '../../store/registry/rows.ts';
import { audit } from '../audit.ts';
import { readJsonText } from '../body.ts';
import { json, type Operation, PAGED } from '../contract/operation.ts';
import { PAYLOADS } from '../contract/payloads.ts';
import { SCHEMAS } from '../contract/schemas/index.ts';
import { deviceItem, eventItem, type Presence, presenceOf, sensorItem } from '../items.ts';
import { cutRange, fields, parseDevice, parseSensor, readQuery } from '../parameters.ts';
import { answerResult } from '../problems.ts';
import type { Route, RouteCore } from '../route.ts';
import type { Stream } from '../stream/index.ts';
import { pathTargets } from '../targets.ts';

const EVENTS_QUERY = {
  limit: fields.limit,
  cursor: fields.cursor,
  from: fields.from,
  to: fields.to,
};

export const DEVICES_QUERY = {
  limit: fields.limit,
  cursor: fields.cursor,
  state: z.enum(['online', 'offline', 'not_live'], 'online, offline or not_live').optional().meta({
    description:
      'Devices that are now `online`, `offline`, or `not_live`: a device that announced no state (by birth or status), five minutes after its last message.',
  }),
  site: fields.name.meta({ description: 'Devices of this site.' }),
  name: fields.name.meta({ description: 'Devices whose name begins with this text.', example: 'my-' }),
};

type DeviceRouteDeps = RouteCore & {
  retire: Retirement['retire'];
  stream: Pick<Stream, 'removeDevice'>;
};

/** Reads a page of the list. `name`: the beginning of names. */
export function devicePages(
  { store, context: { clock } }: Pick<RouteCore, 'store' | 'context'>,
  {
    state,
    site,
    name,
  }: { state?: Presence | undefined; site?: string | undefined; name?: string | undefined },
) {
  const now = clock();
  const accept = (row: DeviceRow) =>
    (state === undefined || presenceOf(row, now) === state) &&
    (name === undefined || (row.name ?? '').startsWith(name));
  return async (after: DevicePlace | null, limit: number) => {
    const isFiltered = state !== undefined || name !== undefined;
    const page = { site, accept: isFiltered ? accept : null, after, limit };
    const { rows, next } = await store.fleet.devicePage(page);
    return { rows: rows.map((row) => deviceItem(row, now)), next };
  };
}

export const getDevices =
  (deps: RouteCore): RequestHandler =>
  async (req, res) => {
    const { limit, cursor, ...filter } = readQuery(req, DEVICES_QUERY);
    const scope = JSON.stringify(['devices', filter.state, filter.site, filter.name]);
    const after = cursor === undefined ? null : deps.http.cursors.open<DevicePlace>(scope, cursor);
    const { rows, next } = await devicePages(deps, filter)(after, limit);
    res.json({ items: rows, next: next && deps.http.cursors.seal(scope, next) });
  };

export const getDevice =
  (deps: RouteCore): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const device = parseDevice(String(req.params['device']));
    await deps.http.limits.pages(res, async () => void res.json(await readItem(deps, device)));
  };

/** @throws `not_found` */
async function readItem(
  { store, context: { clock } }: Pick<RouteCore, 'store' | 'context'>,
  { id, bytes }: Identity,
) {
  const key = { group: groupOf(bytes, store.groups), bytes };
  const [device, sensors] = await Promise.all([store.devices.device(key), store.fleet.latestOfDevice(key)]);
  if (!device) throw noSuchDevice();
  return {
    ...deviceItem({ ...device, id }, clock()),
    registered_at: formatTime(device.registeredAt),
    clock_offset_ms: device.clockOffset === 0 ? null : device.clockOffset,
    sensors: sensors.map(sensorItem),
  };
}

export const putDevice =
  (deps: RouteCore): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const {
      ingest,
      context: { config, logger },
    } = deps;
    const name = String(req.params['device']);
    const device = parseDevice(name);
    const result = await ingest.descriptions.device(
      device,
      await readDescription(req, res, config.ingest.maxMessageBytes),
    );
    if (result.accepted > 0 || result.refused.length === 0)
      audit(logger, res, 'a device was described', name);
    if (result.refused.length > 0) return answerResult(res, result);
    res.json(await readItem(deps, device));
  };

export const patchSensor =
  (deps: RouteCore): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const {
      ingest,
      context: { config, logger },
    } = deps;
    const name = String(req.params['device']);
    const sensor = String(req.params['sensor']);
    const device = parseDevice(name);
    parseSensor(device.id, sensor);
    const body = await readDescription(req, res, config.ingest.maxMessageBytes);
    const result = await ingest.descriptions.sensor(device, sensor, body);
    if (result.refused.length > 0) return answerResult(res, result);
    audit(logger, res, 'a sensor was described', `${name}/${sensor}`);
    const { deviceId, row } = await findSensor(deps, req.params);
    res.json({ device_id: deviceId, ...sensorItem(row) });
  };

/** UTF-8, as devices send it. `limit`: bytes. */
const readDescription = async (req: Request, res: Response, limit: number): Promise<Buffer> =>
  Buffer.from(await readJsonText(req, res, limit));

export const deleteDevice =
  ({ retire, stream, context: { logger } }: DeviceRouteDeps): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const name = String(req.params['device']);
    const device = parseDevice(name);
    if (!(await retire(device))) throw noSuchDevice();
    stream.removeDevice(device.id);
    audit(logger, res, 'a device was retired', name);
    res.status(204).end();
  };

export const getSensor =
  (deps: RouteCore): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const { deviceId, row } = await findSensor(deps, req.params);
    res.json({ device_id: deviceId, ...sensorItem(row) });
  };

/** @throws `bad_id`, `not_found` */
export async function findSensor({ store }: Pick<RouteCore, 'store'>, params: Request['params']) {
  const device = parseDevice(String(params['device']));
  const sensor = parseSensor(device.id, String(params['sensor']));
  const group = groupOf(device.bytes, store.groups);
  const [row] = await store.fleet.latestOfSensors(group, [{ device: device.bytes, sensor: sensor.bytes }]);
  if (!row) throw new MillraceError('not_found', 'There is no such sensor.');
  const key = { group, device: device.bytes, sensor: sensor.bytes };
  return { deviceId: device.id, sensorId: sensor.id, key, row };
}

/**
 * `newest`: for `storedRange`. It is the time of the table `latest`, unless the device was retired: older samples stay until they expire,
 * and may be later.
 * @throws `bad_id`, `not_found`
 */
export async function findMeasured(
  deps: RouteCore,
  params: Request['params'],
): Promise<Awaited<ReturnType<typeof findSensor>> & { newest: number | null }> {
  const found = await findSensor(deps, params);
  const { group, device } = found.key;
  // This read must follow the read of the sensor. So if the device was registered again in between, this read sees its retirement.
  const retiredAt = await deps.store.devices.retiredAt({ group, bytes: device });
  return { ...found, newest: retiredAt === null ? found.row.ts : Number.POSITIVE_INFINITY };
}

export const noSuchDevice = () => new MillraceError('not_found', 'There is no such device.');

export const listDevices: Operation = {
  id: 'listDevices',
  tag: 'devices',
  scope: 'read',
  summary: 'All devices, page by page',
  description: `With \`site\` the database reads only the devices of the answer. With \`state\` or \`name\` it reads up to 1,000
devices for one page, because there is no index of states or device names. So a page may be short, even empty, before the end.`,
  query: DEVICES_QUERY,
  answers: { 200: json(SCHEMAS.DevicePage) },
  links: { device: { to: 'readDevice', parameters: { device: '$response.body#/items/0/device_id' } } },
  problems: PAGED,
};

export const readDevice: Operation = {
  id: 'readDevice',
  tag: 'devices',
  scope: 'read',
  targets: pathTargets,
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

export const retireDevice: Operation = {
  id: 'retireDevice',
  tag: 'devices',
  scope: 'admin',
  targets: pathTargets,
  summary: 'Retires a device',
  description: `Removes the device from all pages, counts and indexes, and closes its account at the broker. Its samples stay until they expire. If
the device comes back, it registers again: at once at this process, and within ten minutes at other processes. After 503 the retirement
may be half done. Repeat it.`,
  answers: { 204: {} },
  problems: ['bad_parameter', 'bad_id', 'not_found', 'unavailable'],
};

const DESCRIPTION_PROBLEMS: Operation['problems'] = [
  'bad_parameter',
  'bad_id',
  'malformed',
  'too_large',
  'unknown_format',
  'busy',
  'unavailable',
];

export const describeDevice: Operation = {
  id: 'describeDevice',
  tag: 'devices',
  scope: 'admin',
  summary: 'Describes a device and its sensors, and registers them if they are new',
  description: `For devices that send no births. The newest description wins: a birth of a session that begins later overwrites the members that it
has. If some sensors are refused, the others are described. Other processes see the description within ten minutes.`,
  body: json(PAYLOADS.WantedDevice),
  answers: { 200: json(SCHEMAS.DeviceWithSensors) },
  problems: [...DESCRIPTION_PROBLEMS, 'refused', 'registration_limit'],
};

export const describeSensor: Operation = {
  id: 'describeSensor',
  tag: 'devices',
  scope: 'admin',
  targets: pathTargets,
  summary: 'Describes a sensor: its type, unit, label and interval',
  description:
    'The newest description wins, as for a device. The sensor must be registered, by a measurement, a birth or `PUT` of its device.',
  body: json(PAYLOADS.WantedSensor),
  answers: { 200: json(SCHEMAS.SensorOfDevice) },
  problems: [...DESCRIPTION_PROBLEMS, 'not_found'],
};

export const listEvents: Operation = {
  id: 'listEvents',
  tag: 'devices',
  scope: 'read',
  targets: pathTargets,
  summary: 'The events of a device, newest first, page by page',
  description: `\`birth\` and \`online\` have the start time of the session. They have the time of receipt if the clock of the device is
off, the message names no session, or a measurement set the device online. \`offline\` always has it. \`clock_offset_ms\` is the clock of the
device minus that of the server, if it is off. Sessions are in the order of their start times.`,
  query: EVENTS_QUERY,
  answers: { 200: json(SCHEMAS.EventPage) },
  problems: [...PAGED, 'bad_range', 'bad_id', 'not_found'],
};

export const readSensor: Operation = {
  id: 'readSensor',
  tag: 'devices',
  scope: 'read',
  targets: pathTargets,
  summary: 'One sensor with its latest value',
  answers: { 200: json(SCHEMAS.SensorOfDevice) },
  problems: ['bad_parameter', 'bad_id', 'not_found', 'unavailable'],
};

export const getEvents =
  (deps: RouteCore): RequestHandler =>
  async (req, res) => {
    const {
      store,
      http: { cursors },
    } = deps;
    const { limit, cursor, from, to } = readQuery(req, EVENTS_QUERY);
    const range = cutRange({ from, to }, deps.context);
    const { id, bytes } = parseDevice(String(req.params['device']));
    if (!(await store.devices.device({ group: groupOf(bytes, store.groups), bytes }))) throw noSuchDevice();
    const scope = JSON.stringify(['events', id, from, to]);
    const after = cursor === undefined ? null : cursors.open<EventPlace>(scope, cursor);
    const { events, next } = await store.events.page(bytes, range, { after, limit });
    res.json({ items: events.map(eventItem), next: next && cursors.seal(scope, next) });
  };

export const routes: Array<Route<DeviceRouteDeps>> = [
  { method: 'get', path: '/api/v1/devices', operation: listDevices, handler: getDevices },
  { method: 'get', path: '/api/v1/devices/{device}', operation: readDevice, handler: getDevice },
  { method: 'put', path: '/api/v1/devices/{device}', operation: describeDevice, handler: putDevice },
  {
    method: 'patch',
    path: '/api/v1/devices/{device}/sensors/{sensor}',
    operation: describeSensor,
    handler: patchSensor,
  },
  { method: 'delete', path: '/api/v1/devices/{device}', operation: retireDevice, handler: deleteDevice },
  { method: 'get', path: '/api/v1/devices/{device}/events', operation: listEvents, handler: getEvents },
  {
    method: 'get',
    path: '/api/v1/devices/{device}/sensors/{sensor}',
    operation: readSensor,
    handler: getSensor,
  },
];
