import { z } from 'zod';
import { formatTime } from '../../../common/times.js';
import { bodyOf } from '../body.js';
import { json, PAGED, REFUSAL_CODES } from '../contract/operation.js';
import { PAYLOADS } from '../contract/payloads.js';
import { SCHEMAS } from '../contract/schemas.js';
import { exportType, sendExport } from '../export.js';
import { abortOnClose } from '../long-requests.js';
import { cutRange, fields, parseDevice, readQuery } from '../parameters.js';
import { answerResult } from '../problems.js';
import { findMeasured } from './devices.js';

/** @import { RequestHandler } from 'express' */
/** @import { RouteParts } from '../api.js' */
/** @import { Operation } from '../contract/operation.js' */
/** @import { Places } from '../long-requests.js' */

const SUBMISSION_QUERY = {
  device: z
    .string('the device that measured')
    .meta({ description: 'The device that measured: a UUID in lower case, or a name.', example: 'my-desk' }),
};

const SERIES_QUERY = { from: fields.from, to: fields.to, points: fields.points };

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
 * @param {RouteParts & { places: { exports: Places } }} parts
 * @returns {RequestHandler}
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

/** @type {Operation} */
export const listMeasurements = {
  id: 'listMeasurements',
  tag: 'measurements',
  scope: 'read',
  summary: 'The samples of a sensor, newest first unless told otherwise, page by page',
  description: `As \`text/csv\` or \`application/x-ndjson\`, by \`Accept\` or by \`format\`, it is the whole range, streamed as a file that is named after
device and sensor, and takes neither \`limit\` nor \`cursor\`.
An export that fails half-way breaks off: what ends as it should is complete.`,
  query: QUERY,
  answers: {
    200: {
      ...json(SCHEMAS.MeasurementPage),
      'text/csv': {
        text: 'A line `ts,value`, then a line for each sample, all ended by a line feed.',
        example: 'ts,value\n2026-11-21T00:00:00.000Z,21.5\n',
      },
      'application/x-ndjson': {
        text: 'A line of JSON for each sample.',
        example: '{"ts":"2026-11-21T00:00:00.000Z","value":21.5}\n',
      },
    },
  },
  problems: [...PAGED, 'busy', 'bad_range', 'bad_id', 'not_found'],
};

/** @type {Operation} */
export const readSeries = {
  id: 'readSeries',
  tag: 'measurements',
  scope: 'read',
  summary: "The shape of a sensor's signal, in as many points as fit on a screen",
  description: `One point for each bin that has samples. Bins are of the smallest width of 1, 2, 5, 10, 15, 30 seconds or minutes,
1, 2, 3, 6, 12 hours, 1, 7, 30 days, or a multiple of 30 days, that gives at most \`points\` of them. They begin at whole
multiples of their width since 1970, in UTC; of the first and the last one only what lies in the range counts. \`min\`, \`max\`,
\`avg\` and \`count\` are those of all samples, whatever the width.`,
  query: SERIES_QUERY,
  answers: { 200: json(SCHEMAS.Series) },
  problems: ['bad_parameter', 'bad_range', 'bad_id', 'not_found', 'busy', 'unavailable'],
};

/** @type {Operation} */
export const postMeasurements = {
  id: 'postMeasurements',
  tag: 'measurements',
  scope: 'ingest',
  summary: 'Stores measurements of a device',
  description: `Takes what MQTT takes, and answers after the commit. What is refused is told here and makes no dead letter: \`refused\`
lists it by its place in the message, with the path and the rule that failed, and the others are stored. A message refused as a whole is a problem of that code.
After \`busy\`, wait for as long as \`Retry-After\` says.`,
  query: SUBMISSION_QUERY,
  body: {
    'application/json': PAYLOADS.PlainMeasurements,
    'application/senml+json': PAYLOADS.SenmlPack,
    'application/senml+cbor': { text: 'The same in CBOR (RFC 8428, section 6).' },
  },
  answers: { 200: json(SCHEMAS.Accepted) },
  problems: [...REFUSAL_CODES, 'bad_parameter', 'refused', 'busy', 'unavailable'],
};

/**
 * `GET /devices/{device}/sensors/{sensor}/series`: the shape of a signal, in as many points as fit on a screen.
 *
 * @param {RouteParts & { places: { series: Places } }} parts
 * @returns {RequestHandler}
 */
export const getSeries = (parts) => async (req, res) => {
  const { points, ...given } = readQuery(req, SERIES_QUERY);
  const range = cutRange(given, parts);
  const { key, newest } = await findMeasured(parts, req.params);
  const leave = parts.places.series.take();
  try {
    await abortOnClose(res, async (signal) => {
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

/**
 * `POST /measurements?device=`: a message of measurements as MQTT takes it, answered after the commit.
 *
 * @param {RouteParts} parts
 * @returns {RequestHandler}
 */
export const postSubmission =
  ({ submit, maxMessageBytes }) =>
  async (req, res) => {
    const device = parseDevice(readQuery(req, SUBMISSION_QUERY).device);
    const body = bodyOf(req, res, maxMessageBytes);
    const told = await submit({ device, contentType: req.headers['content-type'], ...body });
    answerResult(res, told);
  };
