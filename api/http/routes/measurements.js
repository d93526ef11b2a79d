import { z } from 'zod';
import { formatTime } from '../../../common/times.js';
import { exportType, sendExport } from '../export/index.js';
import { fields, readQuery } from '../parameters.js';
import { cutRange } from '../range.js';
import { findMeasured } from './devices.js';

export const QUERY = {
  limit: fields.limit,
  cursor: fields.cursor,
  from: fields.from,
  to: fields.to,
  order: z
    .enum(['asc', 'desc'], 'asc or desc')
    .default('desc')
    .meta({ description: 'By time: oldest first, or newest first.' }),
  format: z
    .enum(['json', 'csv', 'ndjson'], 'json, csv or ndjson')
    .optional()
    .meta({ description: 'What a link asks for, since it cannot send `Accept`, before which this goes.' }),
};

/**
 * `GET /devices/{device}/sensors/{sensor}/measurements`: raw samples in [from, to), newest first unless told otherwise.
 * The cursor holds the instant that was reached. As CSV or NDJSON: all of the range, streamed.
 *
 * @param {import('../api.js').RouteParts & { places: { exports: import('../places.js').Places } }} parts
 * @returns {import('express').RequestHandler}
 */
export const getMeasurements = (parts) => async (req, res) => {
  const { reading, cursors, places } = parts;
  const { limit, cursor, order, format, ...given } = readQuery(req, QUERY);
  const range = cutRange(given, parts);
  const sensor = await findMeasured(parts, req.params);
  const { deviceId, sensorId, key, newest } = sensor;
  // Nothing is stored that is newer than the newest: a sensor that is silent for long costs no more than a busy one.
  range.to = newest === null ? range.from : Math.min(range.to, newest + 1);
  const type = exportType(req, format);
  res.vary('Accept');
  if (type !== null)
    return sendExport(req, res, {
      reading,
      places: places.exports,
      type,
      key,
      sensor,
      range,
      order,
    });
  const scope = JSON.stringify(['measurements', deviceId, sensorId, given.from, given.to, order]);
  const reached = cursor === undefined ? null : cursors.open(scope, cursor);
  if (reached !== null && order === 'asc') range.from = Math.max(range.from, reached);
  if (reached !== null && order === 'desc') range.to = Math.min(range.to, reached);
  const page = await reading.page(key, range, { order, limit });
  res.json({
    items: page.times.map((ts, at) => ({ ts: formatTime(ts), value: page.values[at] })),
    next: page.reached === null ? null : cursors.seal(scope, page.reached),
  });
};
