import { STATUS_CODES } from 'node:http';
import { MillraceError, refusalText } from '../../common/errors.js';

/** @import { ErrorRequestHandler, Response } from 'express' */
/** @import { IngestResult } from '../ingest/ingest-result.js' */
/** @import { Logger } from 'pino' */

/**
 * An error as a problem document (RFC 9457). Nothing from inside, such as a stack, CQL or a host, is in it.
 *
 * @param {MillraceError} error
 * @param {string} [requestId] none: it was not even a request
 * @returns {string} JSON
 */
export function problemDocument(error, requestId) {
  const { code, status, details } = error;
  // What went wrong inside is for the log; to the client the table's title says enough.
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
    logger.warn({ ...request, reason: String(error) }, 'an answer broke off');
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
  // A statement of ours that the database refuses is a defect of ours, not of the request; unless it is what became of
  // the measurements that the request brought.
  if (error instanceof MillraceError && (error.code !== 'rejected' || error.details)) return error;
  const status = /** @type {{ status?: number }} */ (error)?.status;
  // Express refuses paths that are not valid percent-encoding before any route sees them.
  if (status === 400)
    return new MillraceError('bad_parameter', 'The address is not valid percent-encoding of UTF-8.');
  return new MillraceError('internal', undefined, { cause: error });
}

/**
 * Answers whoever sent measurements, or had them replayed: 200 when all are stored, else a problem that says which
 * are not. A message that was refused as a whole is a problem of that code.
 *
 * @param {Response} res
 * @param {IngestResult} told
 * @throws {MillraceError} `refused`, or the code of the whole
 */
export function answerResult(res, { accepted, refused }) {
  if (refused.length === 0) return void res.json({ accepted });
  const [first] = refused;
  const details = { accepted, refused };
  if (first?.index !== -1) throw new MillraceError('refused', undefined, { details });
  throw new MillraceError(first.code, refusalText(first) || undefined, { details });
}
