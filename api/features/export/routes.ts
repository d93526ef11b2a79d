import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { groupOf, type Identity } from '../../../schema/ids.ts';
import type { Operation } from '../../http/contract/operation.ts';
import {
  cutRange,
  fields,
  noSuchDevice,
  parseDevice,
  pathTargets,
  queryTargets,
  readQuery,
} from '../../http/index.ts';
import type { TimeParameter } from '../../http/parameters.ts';
import type { Route } from '../../http/route.ts';
import { COLUMN_FORMATS, listSensors, readSensors } from '../shared/columns/index.ts';
import { COLUMN_CONTENT, TYPE_OF } from '../shared/files/index.ts';
import type { ExportDeps } from './formats.ts';
import { safeName, sendColumns } from './samples.ts';

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

export const getExport =
  (deps: ExportDeps): RequestHandler =>
  async (req, res) => {
    const { device: ref, ...query } = readQuery(req, QUERY);
    const device = ref === undefined ? undefined : parseDevice(ref);
    await send(deps, { req, res, query: { ...query, device }, name: ref ?? query.site ?? 'samples' });
  };

export const getDeviceExport =
  (deps: ExportDeps): RequestHandler =>
  async (req, res) => {
    const query = readQuery(req, DEVICE_QUERY);
    const name = String(req.params['device']);
    await send(deps, { req, res, query: { ...query, device: parseDevice(name) }, name });
  };

interface ExportQuery {
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
  const { store, reading } = deps;
  const { device, site, type: sensorType } = query;
  const range = cutRange({ from: query.from, to: query.to }, deps.context);
  if (
    device &&
    !(await store.devices.device({ group: groupOf(device.bytes, store.groups), bytes: device.bytes }))
  )
    throw noSuchDevice();
  const type = TYPE_OF[query.format];
  const sensors = listSensors(store, store.groups, { site, type: sensorType, device });
  await sendColumns(deps, req, res, {
    type,
    name: `${safeName(name)}.${COLUMN_FORMATS[type].extension}`,
    read: (signal) => readSensors(reading, sensors, range, signal),
  });
}

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
  targets: queryTargets,
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
  targets: pathTargets,
  summary: 'The samples of all sensors of a device, as one file',
  description: 'The file has the columns of `GET /export`.',
  query: DEVICE_QUERY,
  answers: { 200: COLUMN_CONTENT },
  problems: ['bad_parameter', 'bad_range', 'bad_id', 'not_found', 'busy', 'unavailable'],
};

export const routes: Array<Route<ExportDeps>> = [
  {
    method: 'get',
    path: '/api/v1/devices/{device}/export',
    operation: exportDevice,
    handler: getDeviceExport,
  },
  { method: 'get', path: '/api/v1/export', operation: exportSamples, handler: getExport },
];
