import { STATUS_CODES } from 'node:http';
import { MillraceError, refusalText } from '../../common/errors.js';

/** @import { ErrorRequestHandler, Response } from 'express' */
/** @import { IngestResult } from '../ingest/ingest-result.js' */
/** @import { Logger } from 'pino' */

/**
 * Makes a problem document (RFC 9457) from an error. The document contains no stack, no CQL and no host.
 *
 * @param {MillraceError} error
 * @param {string} [requestId] missing if the request was not valid HTTP
 * @returns {string} JSON
 */
export function problemDocument(error, requestId) {
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

/** @param {Response} res @param {MillraceError} error */
export const sendProblem = (res, error) =>
  res
    .status(error.status)
    .type('application/problem+json')
    .send(problemDocument(error, res.locals['requestId']));

/** @param {Logger} logger @returns {ErrorRequestHandler} */
export const problemHandler = (logger) => (error, req, res, next) => {
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

/** @param {unknown} error @returns {MillraceError} */
function toProblem(error) {
  // If the database rejects a statement, the cause is a defect in this program, unless it rejected the posted measurements.
  if (error instanceof MillraceError && (error.code !== 'rejected' || error.details)) return error;
  const status = /** @type {{ status?: number }} */ (error)?.status;
  // Express refuses a path with invalid percent-encoding before it calls a route.
  if (status === 400)
    return new MillraceError('bad_parameter', 'The address is not valid percent-encoding of UTF-8.');
  return new MillraceError('internal', undefined, { cause: error });
}

/**
 * Answers a request that posts or replays measurements. The answer is 200 if all measurements are stored. Otherwise it is a
 * problem that lists the refused measurements. If the whole message was refused, the problem has the code of that refusal.
 *
 * @param {Response} res
 * @param {IngestResult} result
 * @throws {MillraceError} `refused`, or the code that refused the whole message
 */
export function answerResult(res, { accepted, refused }) {
  if (refused.length === 0) return void res.json({ accepted });
  const [first] = refused;
  const details = { accepted, refused };
  if (first?.index !== -1) throw new MillraceError('refused', refusedText(accepted), { details });
  throw new MillraceError(first.code, refusalText(first) || undefined, { details });
}

/** @param {number} accepted number of stored measurements */
const refusedText = (accepted) =>
  accepted === 0
    ? 'All measurements were refused, and nothing is stored.'
    : `Some measurements were refused, and ${accepted} are stored.`;
