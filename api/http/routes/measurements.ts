import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { formatTime } from '../../../common/times.ts';
import { requireScope } from '../../access/http/index.ts';
import { storedRange } from '../../history/reading/index.ts';
import { resultOf } from '../../ingest/index.ts';
import { audit, toCorrectionRequest } from '../audit.ts';
import { bodyOf } from '../body.ts';
import { json, type Operation, PAGED, REFUSAL_CODES } from '../contract/operation.ts';
import { PAYLOADS } from '../contract/payloads.ts';
import { SCHEMAS } from '../contract/schemas/index.ts';
import { abortOnClose } from '../long-requests.ts';
import { cutRange, fields, parseDevice, readQuery } from '../parameters.ts';
import { answerResult } from '../problems.ts';
import type { Route, RouteCore } from '../route.ts';
import { pathTargets, queryTargets } from '../targets.ts';
import { findMeasured } from './devices.ts';

const SUBMISSION_QUERY = {
  device: z
    .string('the device that measured')
    .meta({ description: 'The device that measured: a UUID in lower case, or a name.', example: 'my-desk' }),
  replace: z.enum(['true', 'false'], 'true or false').default('false').meta({
    description:
      'With `true` the values replace what is stored for their times. Each needs a time, and the token the scope `correct`.',
  }),
};

export const SERIES_QUERY = {
  from: fields.from,
  to: fields.to,
  points: fields.points,
  utc_offset: fields.utcOffset,
};
const MINUTE_MS = 60_000;

type SeriesQuery = z.infer<z.ZodObject<typeof SERIES_QUERY>>;

export const MEASUREMENTS_QUERY = {
  limit: fields.limit,
  cursor: fields.cursor,
  from: fields.from,
  to: fields.to,
  order: z.enum(['asc', 'desc'], 'asc or desc').default('desc').meta({
    description: 'Order by time: `asc` is oldest first, `desc` is newest first.',
  }),
};

/** Samples in [from, to), page by page. The cursor holds the instant that the page reached. */
export const getMeasurements =
  (deps: RouteCore): RequestHandler =>
  async (req, res) => {
    const {
      reading,
      http: { cursors },
    } = deps;
    const { limit, cursor, order, ...given } = readQuery(req, MEASUREMENTS_QUERY);
    const retained = cutRange(given, deps.context);
    const { deviceId, sensorId, key, newest } = await findMeasured(deps, req.params);
    // A page of a sensor that has been silent for long would read many empty hours otherwise.
    const range = storedRange(retained, newest);
    const scope = JSON.stringify(['measurements', deviceId, sensorId, given.from, given.to, order]);
    const reached = cursor === undefined ? null : cursors.open<number>(scope, cursor);
    if (reached !== null && order === 'asc') range.from = Math.max(range.from, reached);
    if (reached !== null && order === 'desc') range.to = Math.min(range.to, reached);
    const page = await reading.page(key, range, { order, limit });
    res.json({
      items: page.times.map((ts, index) => ({ ts: formatTime(ts), value: page.values[index] })),
      next: page.reached === null ? null : cursors.seal(scope, page.reached),
    });
  };

export const listMeasurements: Operation = {
  id: 'listMeasurements',
  tag: 'measurements',
  scope: 'read',
  targets: pathTargets,
  summary: 'The samples of a sensor, page by page',
  query: MEASUREMENTS_QUERY,
  answers: { 200: json(SCHEMAS.MeasurementPage) },
  problems: [...PAGED, 'bad_range', 'bad_id', 'not_found'],
};

export const readSeries: Operation = {
  id: 'readSeries',
  tag: 'measurements',
  scope: 'read',
  targets: pathTargets,
  summary: "A sensor's signal, reduced to a given count of points",
  description: `One point for each bin that has samples. All bins have the same width: 1, 2, 5, 10, 15 or 30 seconds or minutes,
1, 2, 3, 6 or 12 hours, 1, 7 or 30 days, or a multiple of 30 days. The API takes the smallest width that gives at most \`points\` bins.
Bins begin at whole multiples of their width since 1970, in UTC or by the clock of \`utc_offset\`. The first and the last bin count only
samples within the range.
\`min\`, \`max\`, \`avg\` and \`count\` are exact for every width.`,
  query: SERIES_QUERY,
  answers: { 200: json(SCHEMAS.Series) },
  problems: ['bad_parameter', 'bad_range', 'bad_id', 'not_found', 'busy', 'unavailable'],
};

export const postMeasurements: Operation = {
  id: 'postMeasurements',
  tag: 'measurements',
  scope: 'ingest',
  targets: queryTargets,
  summary: 'Stores measurements of a device',
  description: `Takes the payloads that MQTT takes, and answers after the commit. As \`application/json\` it takes plain measurements and SenML: an array whose
first record has a label of SenML is a pack. \`application/senml+json\` takes the same packs. If some measurements are refused, the others are stored.
The body may have \`Content-Encoding: gzip\`, \`deflate\`, \`br\` or \`zstd\`.
\`refused\` then lists each refused one with its index, its path and the rule that failed. A refused post makes no dead letter. If the whole message is
refused, the problem has the code of that refusal. After \`busy\`, wait for the seconds in \`Retry-After\`.`,
  query: SUBMISSION_QUERY,
  body: {
    // Use one type for both kinds of JSON. For two types of body that are arrays, openapi-python-client generates a broken client.
    'application/json': PAYLOADS.Measurements,
    'application/senml+cbor': { text: 'SenML as CBOR (RFC 8428, section 6).' },
  },
  answers: { 200: json(SCHEMAS.Accepted) },
  problems: [...REFUSAL_CODES, 'bad_parameter', 'refused', 'busy', 'unavailable'],
};

/** @throws `bad_range`, `bad_id`, `not_found`, `unavailable` */
export async function seriesReader(
  deps: RouteCore,
  params: Request['params'],
  { points, utc_offset: offset, ...given }: SeriesQuery,
) {
  const range = cutRange(given, deps.context);
  const { key, newest } = await findMeasured(deps, params);
  return async (signal: AbortSignal) => {
    const options = { points, newest, shift: offset * MINUTE_MS, signal };
    const series = await deps.reading.series(key, range, options);
    const shown = series.points.map((point) => ({ ...point, ts: formatTime(point.ts) }));
    return { points: shown, step_ms: series.width, source: series.source };
  };
}

export const getSeries =
  (deps: RouteCore): RequestHandler =>
  async (req, res) => {
    const read = await seriesReader(deps, req.params, readQuery(req, SERIES_QUERY));
    const release = deps.http.limits.series.acquire();
    try {
      await abortOnClose(res, (signal) =>
        deps.http.limits.points(res, async () => void res.json(await read(signal))),
      );
    } finally {
      release();
    }
  };

/** `POST /measurements?device=`: stores a message as the MQTT listener does, and answers after its commit. */
export const postSubmission =
  (deps: RouteCore): RequestHandler =>
  async (req, res) => {
    const { device: name, replace } = readQuery(req, SUBMISSION_QUERY);
    if (replace === 'true') {
      requireScope(res, 'correct');
      return replaceSubmission(deps, { req, res }, { name, reason: null });
    }
    const { ingest, context } = deps;
    const device = parseDevice(name);
    const body = bodyOf(req, res, context.config.ingest.maxMessageBytes, { compressed: true });
    answerResult(res, await ingest.submit({ device, contentType: req.headers['content-type'], ...body }));
  };

/** The values of the body replace what is stored for their times. `name`: of the device */
export async function replaceSubmission(
  { ingest, corrections, context: { config, logger } }: RouteCore,
  { req, res }: { req: Request; res: Response },
  { name, reason }: { name: string; reason: string | null },
) {
  const device = parseDevice(name);
  const body = bodyOf(req, res, config.ingest.maxMessageBytes, { compressed: true });
  const submission = { contentType: req.headers['content-type'], ...body };
  const batch = await ingest.submissions.admit(submission, async ({ payload, contentType, receivedAt }) => {
    const decoded = ingest.decoder.decode(payload, contentType, receivedAt);
    await corrections.replaceBatch(device, decoded, toCorrectionRequest(res, reason));
    return decoded;
  });
  if (batch.counts.samples > 0) audit(logger, res, 'samples were replaced', name);
  answerResult(res, resultOf(batch));
}

export const routes: Array<Route<RouteCore>> = [
  {
    method: 'get',
    path: '/api/v1/devices/{device}/sensors/{sensor}/measurements',
    operation: listMeasurements,
    handler: getMeasurements,
  },
  {
    method: 'get',
    path: '/api/v1/devices/{device}/sensors/{sensor}/series',
    operation: readSeries,
    handler: getSeries,
  },
  { method: 'post', path: '/api/v1/measurements', operation: postMeasurements, handler: postSubmission },
];
