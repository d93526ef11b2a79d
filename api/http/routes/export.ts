import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { groupOf, type Identity } from '../../../schema/ids.ts';
import { COLUMN_FORMATS, listSensors, readSensors } from '../../export/index.ts';
import type { RouteDeps } from '../api.ts';
import type { Content, Operation } from '../contract/operation.ts';
import { safeName, sendColumns, TYPE_OF } from '../export.ts';
import type { ConcurrencyLimit } from '../long-requests.ts';
import { cutRange, fields, parseDevice, readQuery, type TimeParameter } from '../parameters.ts';
import { noSuchDevice } from './devices.ts';

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

export type ExportDeps = RouteDeps & { limits: { exports: ConcurrencyLimit } };

/** `GET /export`: all matching sensors in one file. */
export const getExport =
  (deps: ExportDeps): RequestHandler =>
  async (req, res) => {
    const { device: ref, ...query } = readQuery(req, QUERY);
    const device = ref === undefined ? undefined : parseDevice(ref);
    await send(deps, { req, res, query: { ...query, device }, name: ref ?? query.site ?? 'samples' });
  };

/** `GET /devices/{device}/export`: all sensors of the device in one file. */
export const getDeviceExport =
  (deps: ExportDeps): RequestHandler =>
  async (req, res) => {
    const query = readQuery(req, DEVICE_QUERY);
    const name = String(req.params['device']);
    await send(deps, { req, res, query: { ...query, device: parseDevice(name) }, name });
  };

export interface ExportQuery {
  from?: TimeParameter | undefined;
  to?: TimeParameter | undefined;
  format: 'parquet' | 'arrow';
  site?: string | undefined;
  type?: string | undefined;
  device?: Identity | undefined;
}

async function send(
  deps: ExportDeps,
  { req, res, query, name }: { req: Request; res: Response; query: ExportQuery; name: string },
) {
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

export const COLUMN_CONTENT: Content = {
  'application/vnd.apache.parquet': {
    text: 'A Parquet file. Each row group has the exact least and greatest value of each column.',
  },
  'application/vnd.apache.arrow.stream': { text: 'An Arrow IPC stream. The labels are dictionaries.' },
};

const COLUMNS = `| column | type | content |
| --- | --- | --- |
| \`ts\` | timestamp, ms, UTC | |
| \`device\`, \`sensor\` | text | the names, or the ids of what has no name |
| \`type\`, \`unit\`, \`site\` | text or null | |
| \`value\` | double | to the last bit |`;

export const exportSamples: Operation = {
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

export const exportDevice: Operation = {
  id: 'exportDevice',
  tag: 'measurements',
  scope: 'read',
  summary: 'The samples of all sensors of a device, as one file',
  description: 'The file has the columns of `GET /export`.',
  query: DEVICE_QUERY,
  answers: { 200: COLUMN_CONTENT },
  problems: ['bad_parameter', 'bad_range', 'bad_id', 'not_found', 'busy', 'unavailable'],
};
