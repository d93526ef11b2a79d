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
/** @import { RouteDeps } from '../api.js' */
/** @import { Operation } from '../contract/operation.js' */
/** @import { ConcurrencyLimit } from '../long-requests.js' */

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
    .meta({ description: 'Order by time: `asc` is oldest first, `desc` is newest first.' }),
  format: z
    .enum(['json', 'csv', 'ndjson'], 'json, csv or ndjson')
    .optional()
    .meta({ description: 'The format of the answer. It replaces `Accept`, which a link cannot send.' }),
};

/**
 * `GET /devices/{device}/sensors/{sensor}/measurements`: the samples in [from, to), newest first by default. The
 * cursor holds the instant that the page reached. CSV and NDJSON are streams of the whole range.
 *
 * @param {RouteDeps & { limits: { exports: ConcurrencyLimit } }} deps
 * @returns {RequestHandler}
 */
export const getMeasurements = (deps) => async (req, res) => {
  const { reading, cursors, limits } = deps;
  const { limit, cursor, order, format, ...given } = readQuery(req, QUERY);
  const range = cutRange(given, deps);
  const sensor = await findMeasured(deps, req.params);
  const { deviceId, sensorId, key, newest } = sensor;
  // Without this cut, a page of a sensor that is silent for long would read many empty hours.
  range.to = newest === null ? range.from : Math.min(range.to, newest + 1);
  const type = exportType(req, format);
  res.vary('Accept');
  if (type !== null)
    return sendExport(req, res, {
      reading,
      limit: limits.exports,
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
    items: page.times.map((ts, index) => ({ ts: formatTime(ts), value: page.values[index] })),
    next: page.reached === null ? null : cursors.seal(scope, page.reached),
  });
};

/** @type {Operation} */
export const listMeasurements = {
  id: 'listMeasurements',
  tag: 'measurements',
  scope: 'read',
  summary: 'The samples of a sensor, newest first by default, page by page',
  description: `\`Accept\` or \`format\` selects an export as \`text/csv\` or \`application/x-ndjson\`. An export streams the whole range as a
file with the names of device and sensor. It takes neither \`limit\` nor \`cursor\`. If an export fails, the connection breaks. So an answer
that ends normally is complete.`,
  query: QUERY,
  answers: {
    200: {
      // The texts come first: openapi-python-client reads every answer as the first type, and JSON can be read as a text.
      'text/csv': {
        text: 'A line `ts,value`, then a line for each sample. Each line ends with a line feed.',
        example: 'ts,value\n2026-11-21T00:00:00.000Z,21.5\n',
      },
      'application/x-ndjson': {
        text: 'A line of JSON for each sample.',
        example: '{"ts":"2026-11-21T00:00:00.000Z","value":21.5}\n',
      },
      ...json(SCHEMAS.MeasurementPage),
    },
  },
  problems: [...PAGED, 'busy', 'bad_range', 'bad_id', 'not_found'],
};

/** @type {Operation} */
export const readSeries = {
  id: 'readSeries',
  tag: 'measurements',
  scope: 'read',
  summary: "A sensor's signal, reduced to a given count of points",
  description: `One point for each bin that has samples. All bins have the same width: 1, 2, 5, 10, 15 or 30 seconds or minutes,
1, 2, 3, 6 or 12 hours, 1, 7 or 30 days, or a multiple of 30 days. The API takes the smallest width that gives at most \`points\` bins.
Bins begin at whole multiples of their width since 1970, in UTC. The first and the last bin count only samples within the range.
\`min\`, \`max\`, \`avg\` and \`count\` are exact for every width.`,
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
  description: `Takes the payloads that MQTT takes, and answers after the commit. As \`application/json\` it takes plain measurements and SenML: an array whose
first record has a label of SenML is a pack. \`application/senml+json\` takes the same packs. If some measurements are refused, the others are stored.
\`refused\` then lists each refused one with its index, its path and the rule that failed. A refused post makes no dead letter. If the whole message is
refused, the problem has the code of that refusal. After \`busy\`, wait for the seconds in \`Retry-After\`.`,
  query: SUBMISSION_QUERY,
  body: {
    // One type for both kinds of JSON: openapi-python-client cannot import a client with two types of body that are arrays.
    'application/json': PAYLOADS.Measurements,
    'application/senml+cbor': { text: 'SenML as CBOR (RFC 8428, section 6).' },
  },
  answers: { 200: json(SCHEMAS.Accepted) },
  problems: [...REFUSAL_CODES, 'bad_parameter', 'refused', 'busy', 'unavailable'],
};

/**
 * `GET /devices/{device}/sensors/{sensor}/series`: a signal, reduced to a given count of points.
 *
 * @param {RouteDeps & { limits: { series: ConcurrencyLimit } }} deps
 * @returns {RequestHandler}
 */
export const getSeries = (deps) => async (req, res) => {
  const { points, ...given } = readQuery(req, SERIES_QUERY);
  const range = cutRange(given, deps);
  const { key, newest } = await findMeasured(deps, req.params);
  const release = deps.limits.series.acquire();
  try {
    await abortOnClose(res, async (signal) => {
      const series = await deps.reading.series(key, range, { points, newest, signal });
      res.json({
        points: series.points.map((point) => ({ ...point, ts: formatTime(point.ts) })),
        step_ms: series.width,
        source: series.source,
      });
    });
  } finally {
    release();
  }
};

/**
 * `POST /measurements?device=`: takes a message as MQTT does, and answers after its commit.
 *
 * @param {RouteDeps} deps
 * @returns {RequestHandler}
 */
export const postSubmission =
  ({ submit, maxMessageBytes }) =>
  async (req, res) => {
    const device = parseDevice(readQuery(req, SUBMISSION_QUERY).device);
    const body = bodyOf(req, res, maxMessageBytes);
    answerResult(res, await submit({ device, contentType: req.headers['content-type'], ...body }));
  };
