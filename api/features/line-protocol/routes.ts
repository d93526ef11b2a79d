import type { Request, RequestHandler } from 'express';
import { z } from 'zod';
import { MillraceError, refusalText } from '../../../common/errors.ts';
import type { Core } from '../../feature.ts';
import type { Operation } from '../../http/contract/operation.ts';
import { bodyOf, json, readQuery, requireScope, toCorrectionRequest } from '../../http/index.ts';
import type { Route } from '../../http/route.ts';
import type { LineDecoder, Precision } from './decoder.ts';
import { SCHEMAS } from './schemas.ts';
import { type LineResult, storeLines } from './storing.ts';

type Deps = Core & { decoder: LineDecoder; countLines: (result: LineResult) => void };

/** Refused lines that an answer lists with a reason. Further ones are listed only by their numbers. */
const MAX_REASONS = 100;

/** Short, because clients write the message to their logs. */
const MAX_REASONS_IN_MESSAGE = 3;

/** The error message omits further line numbers. */
const MAX_NUMBERS_IN_MESSAGE = 20;

/** Clients of InfluxDB send this parameter, which has no effect here. */
const ignored = (description: string) =>
  z
    .string()
    .optional()
    .meta({ description: `${description} It is ignored.` });

const replace = z.enum(['true', 'false'], 'true or false').default('false').meta({
  description:
    'With `true` the values replace what is stored for their times. Each line needs a time, and the token the scope `correct`.',
});

const V2_QUERY = {
  replace,
  precision: z
    .enum(['ns', 'us', 'ms', 's'], 'ns, us, ms or s')
    .default('ns')
    .meta({ description: 'The unit of the times.' }),
  bucket: ignored('The bucket.'),
  org: ignored('The organization.'),
  orgID: ignored('The id of the organization.'),
};

const V1_QUERY = {
  replace,
  precision: z
    .enum(['n', 'ns', 'u', 'us', 'µ', 'ms', 's', 'm', 'h'], 'n, ns, u, us, ms, s, m or h')
    .default('ns')
    .meta({ description: 'The unit of the times.' }),
  u: ignored('The user name.'),
  p: z.string().optional().meta({ description: 'The token, for clients that cannot send it in a header.' }),
  db: ignored('The database.'),
  rp: ignored('The retention policy.'),
  consistency: ignored('The consistency level.'),
};

const V1_UNITS: Record<string, Precision> = { n: 'ns', u: 'us', µ: 'us' };

export const postV2 = (deps: Deps): RequestHandler => writeLines(deps, (req) => readQuery(req, V2_QUERY));

export const postV1 = (deps: Deps): RequestHandler =>
  writeLines(deps, (req) => {
    const { precision, ...given } = readQuery(req, V1_QUERY);
    return { ...given, precision: V1_UNITS[precision] ?? (precision as Precision) };
  });

const writeLines =
  (deps: Deps, optionsOf: (req: Request) => { precision: Precision; replace: string }): RequestHandler =>
  async (req, res) => {
    const {
      context: { config },
      decoder,
      countLines,
    } = deps;
    const { precision, replace: replaces } = optionsOf(req);
    if (replaces === 'true') requireScope(res, 'correct');
    const body = bodyOf(req, res, config.ingest.maxMessageBytes, { compressed: true });
    const submission = { contentType: req.headers['content-type'], ...body };
    const result = await storeLines(
      deps,
      submission,
      ({ payload, receivedAt, contentType }) => decoder.decode(payload, precision, receivedAt, contentType),
      replaces === 'true' ? toCorrectionRequest(res, 'line protocol') : null,
    );
    countLines(result);
    if (result.refused.length > 0) throw linesRefused(result);
    res.status(204).end();
  };

function linesRefused({ accepted, refused }: LineResult) {
  const lines = [...new Set(refused.map(({ line }) => line))];
  const reasons = refused
    .slice(0, MAX_REASONS_IN_MESSAGE)
    .map((refusal) => `line ${refusal.line}: ${refusalText(refusal)}`);
  const numbers = lines.slice(0, MAX_NUMBERS_IN_MESSAGE).join(', ');
  const subject = lines.length === 1 ? 'One line was' : `${lines.length} lines were`;
  const message = `${subject} refused, and ${accepted === 0 ? 'nothing is' : 'all others are'} stored. ${reasons.join('; ')}. Refused: ${numbers}${
    lines.length > MAX_NUMBERS_IN_MESSAGE ? ' …' : ''
  }`;
  return new MillraceError('lines_refused', message, {
    details: { message, accepted, lines, refused: refused.slice(0, MAX_REASONS) },
  });
}

export const getPing =
  ({ context: { version } }: Deps): RequestHandler =>
  (_req, res) => {
    res.set('X-Influxdb-Version', `Millrace ${version}`).status(204).end();
  };

export const getInfluxHealth =
  ({ health: { readiness }, context: { version } }: Deps): RequestHandler =>
  async (_req, res) => {
    const { ready } = await readiness.read();
    res.status(ready ? 200 : 503).json({
      name: 'millrace',
      status: ready ? 'pass' : 'fail',
      message: ready ? 'ready for writes' : 'not ready: /readyz has the checks',
      version,
    });
  };

const DESCRIPTION = `Takes line protocol, plain or with \`Content-Encoding: gzip\`, \`deflate\`, \`br\` or \`zstd\`, and answers 204 after the commit.

The device is the first of the tags in \`LINE_DEVICE_TAGS\` that the line has, else its measurement. The sensor is \`measurement.field\`, and the remaining
tags in the order of their keys: \`modbus.temperature{slave_id=1}\`. Floats, integers, unsigned integers and booleans are stored. Texts, and values that
\`LINE_SKIP\` leaves out, are skipped and counted. Times are cut to milliseconds.

If some lines are refused, the others are stored: the problem \`lines_refused\` has their numbers. After \`busy\`, wait for the seconds in
\`Retry-After\`.`;

const BODY = {
  'text/plain': {
    text: 'Line protocol of InfluxDB: a line for each point.',
    example: 'modbus,device=press-1 temperature=21.5,running=true 1795680000000000000\n',
  },
};

const PROBLEMS: Operation['problems'] = [
  'lines_refused',
  'malformed',
  'too_large',
  'unknown_format',
  'bad_parameter',
  'busy',
  'unavailable',
];

export const writeLineProtocol: Operation = {
  id: 'writeLineProtocol',
  tag: 'line-protocol',
  scope: 'ingest',
  summary: 'Stores line protocol, as InfluxDB 2 takes it',
  description: DESCRIPTION,
  query: V2_QUERY,
  body: BODY,
  emptyBody: true,
  answers: { 204: {} },
  problems: PROBLEMS,
};

export const writeLineProtocolV1: Operation = {
  id: 'writeLineProtocolV1',
  tag: 'line-protocol',
  scope: 'ingest',
  tokenInQuery: true,
  summary: 'Stores line protocol, as InfluxDB 1 takes it',
  description: DESCRIPTION,
  query: V1_QUERY,
  body: BODY,
  emptyBody: true,
  answers: { 204: {} },
  problems: PROBLEMS,
};

export const pingInflux: Operation = {
  id: 'pingInflux',
  tag: 'line-protocol',
  scope: 'open',
  summary: 'Answers if this process serves HTTP, for clients of InfluxDB',
  answers: { 204: {} },
  problems: [],
};

export const readInfluxHealth: Operation = {
  id: 'readInfluxHealth',
  tag: 'line-protocol',
  scope: 'open',
  summary: 'The readiness of this process, for clients of InfluxDB',
  answers: { 200: json(SCHEMAS.InfluxHealth), 503: json(SCHEMAS.InfluxHealth) },
  problems: [],
};

export const routes: Array<Route<Deps>> = [
  { method: 'post', path: '/api/v2/write', operation: writeLineProtocol, handler: postV2 },
  { method: 'post', path: '/write', operation: writeLineProtocolV1, handler: postV1 },
  { method: 'get', path: '/ping', operation: pingInflux, handler: getPing },
  { method: 'get', path: '/health', operation: readInfluxHealth, handler: getInfluxHealth },
];
