import type { RequestHandler } from 'express';
import { z } from 'zod';
import { formatTime } from '../../../../common/times.ts';
import type { Core } from '../../../feature.ts';
import type { Operation } from '../../../http/contract/operation.ts';
import { abortOnClose, cutRange, fields, json, readQuery, SCHEMAS, Time } from '../../../http/index.ts';
import type { Route } from '../../../http/route.ts';
import { assetOf, assetTargets } from '../routes/index.ts';
import type { AssetTree } from '../tree/index.ts';
import type { AssetSeries } from './asset-series.ts';

export type SeriesRouteDeps = Core & { tree: AssetTree; series: AssetSeries };

const MINUTE_MS = 60_000;

const QUERY = {
  type: fields.text.meta({ description: 'Sensors of this type.', example: 'temperature' }),
  from: fields.from,
  to: fields.to,
  points: fields.points,
  utc_offset: fields.utcOffset,
};

export const SERIES_SCHEMAS = {
  AssetSeries: z
    .strictObject({
      points: z.array(SCHEMAS.Point).max(2000),
      step_ms: z.int().positive().meta({ description: 'The width of a bin in milliseconds.' }),
      source: z.enum(['roll-ups', 'statistics', 'samples']),
      complete_until: Time.nullable(),
    })
    .meta({
      description:
        'Points in order of time. Bins without samples are left out. `source` is `roll-ups` if the points are made of hourly roll-ups of the asset, else as in a series of a sensor. Samples from `complete_until` on may be missing. It is null if none is missing.',
    }),
};

const getAssetSeries =
  (deps: SeriesRouteDeps): RequestHandler =>
  async (req, res) => {
    const { type, points, utc_offset: offset, ...given } = readQuery(req, QUERY);
    const range = cutRange(given, deps.context);
    const { id } = assetOf(req, deps.tree);
    const release = deps.http.limits.series.acquire();
    try {
      await abortOnClose(res, (signal) =>
        deps.http.limits.points(res, async () => {
          const shape = await deps.series.read(id, range, {
            type,
            points,
            shift: offset * MINUTE_MS,
            signal,
          });
          res.json({
            points: shape.points.map((point) => ({ ...point, ts: formatTime(point.ts) })),
            step_ms: shape.width,
            source: shape.source,
            complete_until: shape.completeUntil === null ? null : formatTime(shape.completeUntil),
          });
        }),
      );
    } finally {
      release();
    }
  };

const readAssetSeries: Operation = {
  id: 'readAssetSeries',
  tag: 'assets',
  scope: 'read',
  targets: assetTargets,
  summary: 'The signal of all sensors of a type below an asset',
  description: `One point for each bin that has samples, as in the series of a sensor. A sensor counts for the hours in which it was below the asset.
With fewer than 100 devices the points are read from the sensors. With more they are read from hourly roll-ups: a bin then has at least an hour, only
whole hours of the range count, and \`utc_offset\` is rounded down to a whole hour. \`count\`, \`min\` and \`max\` are exact. A roll-up is written some
minutes after an hour is packed, and written again when late samples are packed, or when an edit of the tree concerns its hour.`,
  query: QUERY,
  answers: { 200: json(SERIES_SCHEMAS.AssetSeries) },
  problems: ['bad_parameter', 'bad_range', 'not_found', 'busy', 'unavailable'],
};

export const seriesRoute: Route<SeriesRouteDeps> = {
  method: 'get',
  path: '/api/v1/assets/{asset}/series',
  operation: readAssetSeries,
  handler: getAssetSeries,
};
