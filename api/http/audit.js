/** @import { Response } from 'express' */
/** @import { Logger } from 'pino' */

/**
 * Writes down what an administrator has done: a line each, whatever else the log sums up, and never a secret.
 *
 * @param {Logger} logger
 * @param {Response} res of the request that asked for it
 * @param {string} act in words
 * @param {string} whom it was done to
 */
export function audit(logger, res, act, whom) {
  const { caller, requestId } = res.locals;
  logger.info({ audit: true, whom, by: caller.by, address: res.req.ip, requestId }, act);
}
