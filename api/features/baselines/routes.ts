import type { RequestHandler } from 'express';
import { z } from 'zod';
import type { Core } from '../../feature.ts';
import type { Operation } from '../../http/contract/operation.ts';
import { fields, findSensor, json, keyOf, pathTargets, readQuery } from '../../http/index.ts';
import type { Route } from '../../http/route.ts';
import type { Baselines } from './baselines.ts';
import { baselineHourItem, createRanking, groupItem, OUTLIER_SIGMAS, outlierItem } from './ranking.ts';
import { SCHEMAS } from './schemas.ts';

type OutlierRouteDeps = Core & { baselines: Baselines };

const limit = fields.limit.meta({ description: 'The limit of items of the answer.' });
const type = fields.name.meta({ description: 'Sensors of this type.', example: 'temperature' });
const site = fields.name.meta({ description: 'Sensors of this site.' });

export const OUTLIERS_QUERY = { limit, type, site };

export const GROUPS_QUERY = {
  by: z
    .enum(['site', 'device'], 'site or device')
    .default('site')
    .meta({ description: 'The kind of the items: `site` or `device`.' }),
  limit,
  type,
  site,
};

export function getOutliers(deps: OutlierRouteDeps): RequestHandler {
  const ranking = createRanking({ latest: deps.publishing.stream.latest, clock: deps.context.clock });
  return async (req, res) => {
    const { limit, type, site } = readQuery(req, OUTLIERS_QUERY);
    const { sensors, judged, outliers } = await ranking.sensors({ type, site });
    res.json({
      items: outliers.slice(0, limit).map((item) => outlierItem(item, deps)),
      sensors,
      judged,
      outliers: outliers.length,
    });
  };
}

export function getOutlierGroups(deps: OutlierRouteDeps): RequestHandler {
  const ranking = createRanking({ latest: deps.publishing.stream.latest, clock: deps.context.clock });
  return async (req, res) => {
    const { by, limit, type, site } = readQuery(req, GROUPS_QUERY);
    const groups = await ranking.groups(by, { type, site });
    res.json({ items: groups.slice(0, limit).map((group) => groupItem(group, deps)), groups: groups.length });
  };
}

export const getBaseline =
  (deps: OutlierRouteDeps): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const { deviceId, sensorId } = await findSensor(deps, req.params);
    const hours = deps.baselines.hours(keyOf({ device_id: deviceId, sensor_id: sensorId }));
    res.json({ hours: hours.map(baselineHourItem) });
  };

export const listOutliers: Operation = {
  id: 'listOutliers',
  tag: 'latest',
  scope: 'read',
  summary: 'Sensors whose newest value is unusual, the most unusual first',
  description: `The whole fleet is judged. An item is a sensor whose newest value is at least ${OUTLIER_SIGMAS} deviations from its mean. The mean and the
deviation are those of the hour in which it was measured, learned from the hours of the last four weeks. A sensor with less than 24 hours of history
is not judged, and neither is a value of an earlier day. \`judged\` and \`sensors\` count those of the filter: if they differ, the others are not judged yet. The answer is at most 2 s old.`,
  query: OUTLIERS_QUERY,
  answers: { 200: json(SCHEMAS.Outliers) },
  links: {
    baseline: {
      to: 'readBaseline',
      parameters: {
        device: '$response.body#/items/0/device_id',
        sensor: '$response.body#/items/0/sensor_id',
      },
    },
  },
  problems: ['bad_parameter', 'unavailable'],
};

export const listOutlierGroups: Operation = {
  id: 'listOutlierGroups',
  tag: 'latest',
  scope: 'read',
  summary: 'Sites or devices, each with its most unusual sensor',
  description:
    'The group with the most unusual value comes first, and groups without judged sensors last. `groups` counts all groups of the filter. `device_id` and `device` are null if a group is a site. The answer is at most 2 s old.',
  query: GROUPS_QUERY,
  answers: { 200: json(SCHEMAS.OutlierGroups) },
  problems: ['bad_parameter', 'unavailable'],
};

export const readBaseline: Operation = {
  id: 'readBaseline',
  tag: 'measurements',
  scope: 'read',
  targets: pathTargets,
  summary: 'The baseline of a sensor, hour by hour',
  description:
    'The hours of the present UTC day, and around midnight also of the next or the last one. An hour without a baseline is left out. It is the same in every process. A sensor with less than 24 hours of history has no hours here.',
  answers: { 200: json(SCHEMAS.SensorBaseline) },
  problems: ['bad_parameter', 'bad_id', 'not_found', 'unavailable'],
};

export const routes: Array<Route<OutlierRouteDeps>> = [
  { method: 'get', path: '/api/v1/outliers', operation: listOutliers, handler: getOutliers },
  { method: 'get', path: '/api/v1/outliers/groups', operation: listOutlierGroups, handler: getOutlierGroups },
  {
    method: 'get',
    path: '/api/v1/devices/{device}/sensors/{sensor}/baseline',
    operation: readBaseline,
    handler: getBaseline,
  },
];
