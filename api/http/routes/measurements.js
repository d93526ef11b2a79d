import { z } from 'zod';
import { MillraceError } from '../../../common/errors.js';
import { formatTime } from '../../../common/times.js';
import { DAY_MS } from '../../../schema/rules.js';
import { fields, readQuery } from '../parameters.js';
import { findSensor } from './devices.js';

export const QUERY = {
  limit: fields.limit,
  cursor: fields.cursor,
  from: fields.from,
  to: fields.to,
  order: z
    .enum(['asc', 'desc'], 'asc or desc')
    .default('desc')
    .meta({ description: 'By time: oldest first, or newest first.' }),
};

/**
 * `GET /devices/{device}/sensors/{sensor}/measurements`: raw samples in [from, to), newest first unless told otherwise.
 * The cursor holds the instant that was reached.
 *
 * @param {import('../api.js').RouteParts} parts
 * @returns {import('express').RequestHandler}
 */
export const getMeasurements = (parts) => async (req, res) => {
  const { reading, cursors, clock, historyDays, maxClockSkewMs } = parts;
  const { limit, cursor, from, to, order } = readQuery(req, QUERY);
  const now = clock();
  const range = {
    from: Math.max(from ?? 0, now - historyDays * DAY_MS),
    to: Math.min(to ?? Number.POSITIVE_INFINITY, now + maxClockSkewMs),
  };
  if (from !== undefined && to !== undefined && from > to) {
    throw new MillraceError('bad_range', 'from is after to; a range is half-open, [from, to).');
  }
  const { deviceId, device, sensor, group, row } = await findSensor(parts, req.params);
  const scope = JSON.stringify(['measurements', deviceId, sensor.id, from, to, order]);
  const reached = cursor === undefined ? null : cursors.open(scope, cursor);
  // Nothing is stored that is newer than the newest: a sensor that is silent for long costs no more than a busy one.
  if (row.ts !== null) range.to = Math.min(range.to, row.ts + 1);
  if (reached !== null && order === 'asc') range.from = Math.max(range.from, reached);
  if (reached !== null && order === 'desc') range.to = Math.min(range.to, reached);
  const nothing = row.ts === null || range.from >= range.to;
  const page = nothing
    ? { times: [], values: [], reached: null }
    : await reading.page({ group, device: device.bytes, sensor: sensor.bytes }, range, { order, limit });
  res.json({
    items: page.times.map((ts, at) => ({ ts: formatTime(ts), value: page.values[at] })),
    next: page.reached === null ? null : cursors.seal(scope, page.reached),
  });
};
