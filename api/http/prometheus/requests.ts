import { parse } from 'node:querystring';
import { z } from 'zod';
import { MillraceError } from '../../../common/errors.js';
import { parseTime } from '../../../common/times.js';
import { bodyOf } from '../body.js';
import { json } from '../contract/operation.js';
import { SCHEMAS } from '../contract/schemas/index.js';
import { checkEncoding, readParameters } from '../parameters.js';

/** @import { RequestHandler, Request, Response } from 'express' */
/** @import { ZodObject, ZodRawShape } from 'zod' */
/** @import { RouteDeps } from '../api.js' */
/** @import { Content, Operation } from '../contract/operation.js' */
/** @import { WaitingLimit } from '../long-requests.js' */

/** @typedef {RouteDeps & { limits: { promql: WaitingLimit } }} Deps */

const MAX_BODY_BYTES = 64 * 1024;

const SECONDS = /^-?\d{1,14}(?:\.\d+)?(?:e\+?\d{1,2})?$/i;

const WHOLE_NUMBER = /^-?\d+$/;

const instant = z.string().transform((text, context) => {
  // Other programs mean seconds. So a number that is too large for seconds is refused, not read as ms.
  const ms = SECONDS.test(text)
    ? Math.round(Number(text) * 1000)
    : WHOLE_NUMBER.test(text)
      ? null
      : parseTime(text);
  if (ms !== null && Math.abs(ms) <= 8.64e15) return ms;
  context.addIssue({ code: 'custom', message: 'Unix seconds, or RFC 3339' });
  return z.NEVER;
});

/** Describes a parameter that is a time. @param {string} description @param {string} example */
export const time = (description, example) =>
  instant.meta({ description, example, means: { type: 'string' } });

/** The limit of an answer, as a parameter. */
export const LIMIT = z
  .string()
  .regex(/^\d{1,9}$/, 'a whole number')
  .transform(Number)
  .optional()
  .meta({
    description: 'Maximum number of series, names or values of the answer. 0, the default, means no limit.',
    means: { type: 'integer', minimum: 0 },
  });

/**
 * Reads parameters from the query string, and for POST also from the form. A parameter of the form replaces that of the query
 * string. As in Prometheus, an empty parameter counts as missing, and an unknown one has no effect.
 *
 * @template {ZodRawShape} S
 * @param {Request} req
 * @param {Response} res
 * @param {S} shape
 * @returns {Promise<z.infer<ZodObject<S>>>}
 * @throws {MillraceError} `bad_parameter`, `too_large`
 */
export async function parametersOf(req, res, shape) {
  checkEncoding(req.url);
  const form = req.method === 'POST' ? parse((await bodyOf(req, res, MAX_BODY_BYTES).read()).toString()) : {};
  const given = Object.entries({ ...req.query, ...form }).filter(([, text]) => text !== '');
  return readParameters(Object.fromEntries(given), z.object(shape));
}

/**
 * Wraps a handler. It answers an error of the client with 422 and the error body of Prometheus. The Go client of Prometheus
 * (`client_golang`, `api/prometheus/v1`) reads an error body only with 400 and 422. Other errors stay problem documents.
 *
 * @param {(req: Request, res: Response) => Promise<void>} answer
 * @returns {RequestHandler}
 */
export const withPrometheusErrors = (answer) => async (req, res) => {
  try {
    await answer(req, res);
  } catch (error) {
    const isClientError = error instanceof MillraceError && error.status < 500;
    if (!isClientError || res.headersSent) throw error;
    res.status(422).json({ status: 'error', errorType: 'bad_data', error: error.message });
  }
};

/** Makes a successful answer. @param {unknown} data */
export const success = (data) => ({ status: 'success', data });

/**
 * Describes a route that reads its parameters from the query string.
 *
 * @param {string} id
 * @param {string} summary
 * @param {{ query: ZodRawShape, answer: Content, description: string }} parts
 * @returns {Operation & { query: ZodRawShape }}
 */
export const operationOf = (id, summary, { query, answer, description }) => ({
  id,
  tag: 'prometheus',
  scope: 'read',
  summary,
  description,
  query,
  answers: { 200: answer, 422: json(SCHEMAS.PrometheusError) },
  problems: ['bad_parameter', 'unavailable'],
});

/**
 * Describes the same route for POST, whose parameters may stand in a form instead of the query string.
 *
 * @param {ReturnType<typeof operationOf>} operation
 * @returns {Operation}
 */
export function formOf({ query, ...operation }) {
  const names = Object.keys(query).map((name) => `\`${name}\``);
  return {
    ...operation,
    id: `${operation.id}ByForm`,
    summary: `${operation.summary}, by a form`,
    query: z.object(query).partial().shape,
    body: { 'application/x-www-form-urlencoded': { text: `The parameters ${names.join(', ')}.` } },
    emptyBody: true,
  };
}
