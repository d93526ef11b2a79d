import { parse } from 'node:querystring';
import type { Request, RequestHandler, Response } from 'express';
import { type ZodObject, type ZodRawShape, z } from 'zod';
import { MillraceError } from '../../../common/errors.ts';
import { parseTime } from '../../../common/times.ts';
import type { Core } from '../../feature.ts';
import type { Content, Operation } from '../../http/contract/operation.ts';
import { bodyOf, checkEncoding, json, readParameters } from '../../http/index.ts';
import type { WaitingLimit } from '../../http/long-requests.ts';
import type { Route } from '../../http/route.ts';
import { SCHEMAS } from './schemas.ts';

export type PrometheusDeps = Core & { promql: WaitingLimit };

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

export const timeParameter = (description: string, example: string) =>
  instant.meta({ description, example, means: { type: 'string' } });

export const LIMIT_PARAMETER = z
  .string()
  .regex(/^\d{1,9}$/, 'a whole number')
  .transform(Number)
  .optional()
  .meta({
    description: 'Maximum number of series, names or values of the answer. 0, the default, means no limit.',
    means: { type: 'integer', minimum: 0 },
  });

/**
 * A parameter of the form (POST) replaces that of the query string. As in Prometheus, an empty parameter counts as
 * missing, and an unknown one has no effect.
 * @throws `bad_parameter`, `too_large`
 */
export async function parametersOf<S extends ZodRawShape>(
  req: Request,
  res: Response,
  shape: S,
): Promise<z.infer<ZodObject<S>>> {
  checkEncoding(req.url);
  const form = req.method === 'POST' ? parse((await bodyOf(req, res, MAX_BODY_BYTES).read()).toString()) : {};
  const given = Object.entries({ ...req.query, ...form }).filter(([, text]) => text !== '');
  return readParameters(Object.fromEntries(given), z.object(shape));
}

/**
 * Answers an error of the client with 422 and the error body of Prometheus. The Go client of Prometheus (`client_golang`,
 * `api/prometheus/v1`) reads an error body only with 400 and 422. Other errors stay problem documents.
 */
export const withPrometheusErrors =
  (answer: (req: Request, res: Response) => Promise<void>): RequestHandler =>
  async (req, res) => {
    try {
      await answer(req, res);
    } catch (error) {
      const isClientError = error instanceof MillraceError && error.status < 500;
      if (!isClientError || res.headersSent) throw error;
      res.status(422).json({ status: 'error', errorType: 'bad_data', error: error.message });
    }
  };

export const successBody = (data: unknown) => ({ status: 'success', data });

/** For a route whose parameters are in the query string. */
export const operationOf = (
  id: string,
  summary: string,
  { query, answer, description }: { query: ZodRawShape; answer: Content; description: string },
): Operation & { query: ZodRawShape } => ({
  id,
  tag: 'prometheus',
  scope: 'read',
  summary,
  description,
  query,
  answers: { 200: answer, 422: json(SCHEMAS.PrometheusError) },
  problems: ['bad_parameter', 'unavailable'],
});

/** The same route for POST, whose parameters may stand in a form. */
function formOf({ query, ...operation }: ReturnType<typeof operationOf>): Operation {
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

/** Clients of Prometheus append the rest of a path to it. */
export const PROMETHEUS_PATH = '/prometheus';

/** A route that clients may also call with a form. */
export function getAndPost(
  name: string,
  handler: Route<PrometheusDeps>['handler'],
  operation: ReturnType<typeof operationOf>,
): Array<Route<PrometheusDeps>> {
  const path = `${PROMETHEUS_PATH}/api/v1/${name}`;
  return [
    { method: 'get', path, operation, handler },
    { method: 'post', path, operation: formOf(operation), handler },
  ];
}
