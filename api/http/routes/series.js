import { formatTime } from '../../../common/times.js';
import { whileThere } from '../gone.js';
import { fields, readQuery } from '../parameters.js';
import { cutRange } from '../range.js';
import { findMeasured } from './devices.js';

export const QUERY = { from: fields.from, to: fields.to, points: fields.points };

/**
 * `GET /devices/{device}/sensors/{sensor}/series`: the shape of a signal, in as many points as fit on a screen.
 *
 * @param {import('../api.js').RouteParts & { places: { series: import('../places.js').Places } }} parts
 * @returns {import('express').RequestHandler}
 */
export const getSeries = (parts) => async (req, res) => {
  const { points, ...given } = readQuery(req, QUERY);
  const range = cutRange(given, parts);
  const { key, newest } = await findMeasured(parts, req.params);
  const leave = parts.places.series.take();
  try {
    await whileThere(res, async (signal) => {
      const shape = await parts.reading.series(key, range, { points, newest, signal });
      res.json({
        points: shape.points.map((point) => ({ ...point, ts: formatTime(point.ts) })),
        step_ms: shape.width,
        source: shape.source,
      });
    });
  } finally {
    leave();
  }
};
