import { STATUS_CODES } from 'node:http';
import type { ErrorRequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { MillraceError, refusalText } from '../../common/errors.ts';
import type { IngestResult } from '../ingest/ingest-result.ts';

/** RFC 9457, as JSON. It contains no stack, no CQL and no host. `requestId` is missing if the request was not valid HTTP. */
export function problemDocument(error: MillraceError, requestId?: string): string {
  const { code, status, details } = error;
  // The log has the internal cause. The client gets only the title of the code.
  const shown = status >= 500 ? new MillraceError(code) : error;
  return JSON.stringify({
    type: 'about:blank',
    title: STATUS_CODES[status],
    status,
    code,
    detail: shown.message,
    request_id: requestId,
    ...(status >= 500 ? {} : details),
  });
}

export const sendProblem = (res: Response, error: MillraceError) =>
  res
    .status(error.status)
    .type('application/problem+json')
    .send(problemDocument(error, res.locals['requestId']));

export const problemHandler =
  (logger: Logger): ErrorRequestHandler =>
  (error, req, res, next) => {
    const request = { requestId: res.locals['requestId'], method: req.method, path: req.path };
    if (res.headersSent) {
      logger.warn({ ...request, reason: String(error) }, 'an answer was cut off');
      return next(error);
    }
    const problem = toProblem(error);
    if (problem.code === 'internal') logger.error({ ...request, err: error }, 'a request failed');
    if (problem.status === 503)
      logger.warn({ ...request, code: problem.code, reason: String(error) }, 'a request could not be served');
    if (problem.code === 'unavailable' || problem.code === 'busy') res.set('Retry-After', '2');
    sendProblem(res, problem);
  };

function toProblem(error: unknown): MillraceError {
  // If the database rejects a statement, the cause is a defect in this program, unless it rejected the posted measurements.
  if (error instanceof MillraceError && (error.code !== 'rejected' || error.details)) return error;
  const status = (error as { status?: number })?.status;
  // Express refuses a path with invalid percent-encoding before it calls a route.
  if (status === 400)
    return new MillraceError('bad_parameter', 'The address is not valid percent-encoding of UTF-8.');
  return new MillraceError('internal', undefined, { cause: error });
}

/**
 * For posted or replayed measurements. The answer is 200 if all are stored. Otherwise it is a problem that lists the refused ones. If the
 * whole message was refused, the problem has the code of that refusal, else `refused`.
 */
export function answerResult(res: Response, { accepted, refused }: IngestResult) {
  if (refused.length === 0) return void res.json({ accepted });
  const [first] = refused;
  const details = { accepted, refused };
  if (first?.index !== -1) throw new MillraceError('refused', refusedText(accepted), { details });
  throw new MillraceError(first.code, refusalText(first) || undefined, { details });
}

const refusedText = (accepted: number) =>
  accepted === 0
    ? 'All measurements were refused, and nothing is stored.'
    : `Some measurements were refused, and ${accepted} ${accepted === 1 ? 'is' : 'are'} stored.`;
