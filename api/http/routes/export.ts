import { z } from 'zod';
import { groupOf } from '../../../schema/ids.js';
import { COLUMN_FORMATS, listSensors, readSensors } from '../../export/index.js';
import { safeName, sendColumns, TYPE_OF } from '../export.js';
import { cutRange, fields, parseDevice, readQuery } from '../parameters.js';
import { noSuchDevice } from './devices.js';

/** @import { Request, RequestHandler, Response } from 'express' */
/** @import { Identity } from '../../../schema/ids.js' */
/** @import { RouteDeps } from '../api.js' */
/** @import { Content, Operation } from '../contract/operation.js' */
/** @import { ConcurrencyLimit } from '../long-requests.js' */
/** @import { TimeParameter } from '../parameters.js' */

const format = z.enum(['parquet', 'arrow'], 'parquet or arrow').default('parquet').meta({
  description: 'The format of the file: a Parquet file, or an Arrow IPC stream.',
});

const DEVICE_QUERY = { from: fields.from, to: fields.to, format };

const QUERY = {
  ...DEVICE_QUERY,
  site: fields.name.meta({ description: 'Sensors of this site.' }),
  type: fields.name.meta({ description: 'Sensors of this type.', example: 'temperature' }),
  device: fields.id.meta({
    description: 'Sensors of this device: a UUID in lower case, or a name.',
    example: 'my-desk',
  }),
};

/** @typedef {RouteDeps & { limits: { exports: ConcurrencyLimit } }} ExportDeps */

/**
 * `GET /export`: sends the samples of all matching sensors as one file.
 *
 * @param {ExportDeps} deps
 * @returns {RequestHandler}
 */
export const getExport = (deps) => async (req, res) => {
  const { device: ref, ...query } = readQuery(req, QUERY);
  const device = ref === undefined ? undefined : parseDevice(ref);
  await send(deps, { req, res, query: { ...query, device }, name: ref ?? query.site ?? 'samples' });
};

/**
 * `GET /devices/{device}/export`: sends the samples of all sensors of a device as one file.
 *
 * @param {ExportDeps} deps
 * @returns {RequestHandler}
 */
export const getDeviceExport = (deps) => async (req, res) => {
  const query = readQuery(req, DEVICE_QUERY);
  const name = String(req.params['device']);
  await send(deps, { req, res, query: { ...query, device: parseDevice(name) }, name });
};

/**
 * @typedef {object} ExportQuery
 * @property {TimeParameter | undefined} [from]
 * @property {TimeParameter | undefined} [to]
 * @property {'parquet' | 'arrow'} format
 * @property {string | undefined} [site]
 * @property {string | undefined} [type]
 * @property {Identity | undefined} [device]
 */

/** @param {ExportDeps} deps @param {{ req: Request, res: Response, query: ExportQuery, name: string }} request */
async function send(deps, { req, res, query, name }) {
  const { store, reading, groups, limits, metrics } = deps;
  const { device, site, type: sensorType } = query;
  const range = cutRange({ from: query.from, to: query.to }, deps);
  if (device && !(await store.devices.device({ group: groupOf(device.bytes, groups), bytes: device.bytes })))
    throw noSuchDevice();
  const type = TYPE_OF[query.format];
  const sensors = listSensors(store, groups, { site, type: sensorType, device });
  await sendColumns(req, res, {
    limit: limits.exports,
    type,
    name: `${safeName(name)}.${COLUMN_FORMATS[type].extension}`,
    read: (signal) => readSensors(reading, sensors, range, signal),
    metrics,
  });
}

/** @type {Content} */
export const COLUMN_CONTENT = {
  'application/vnd.apache.parquet': {
    text: 'A Parquet file. Each row group has the exact least and greatest value of each column.',
  },
  'application/vnd.apache.arrow.stream': { text: 'An Arrow IPC stream. The labels are dictionaries.' },
};

const COLUMNS = `| column | type | content |
| --- | --- | --- |
| \`ts\` | timestamp, ms, UTC | |
| \`device\`, \`sensor\` | text | the names, or the ids of what has no name |
| \`type\`, \`unit\` | text or null | |
| \`value\` | double | to the last bit |`;

/** @type {Operation} */
export const exportSamples = {
  id: 'exportSamples',
  tag: 'measurements',
  scope: 'read',
  summary: 'The samples of many sensors, as one file',
  description: `A sensor must match all filters. The file has one row for each sample, sensor by sensor, each oldest first:

${COLUMNS}

The API encodes the file while it reads, so its memory does not grow with the range. If an export fails, the connection breaks. So
an answer that ends normally is complete.`,
  query: QUERY,
  answers: { 200: COLUMN_CONTENT },
  problems: ['bad_parameter', 'bad_range', 'bad_id', 'not_found', 'busy', 'unavailable'],
};

/** @type {Operation} */
export const exportDevice = {
  id: 'exportDevice',
  tag: 'measurements',
  scope: 'read',
  summary: 'The samples of all sensors of a device, as one file',
  description: 'The file has the columns of `GET /export`.',
  query: DEVICE_QUERY,
  answers: { 200: COLUMN_CONTENT },
  problems: ['bad_parameter', 'bad_range', 'bad_id', 'not_found', 'busy', 'unavailable'],
};
