/** @import { Response } from 'express' */
/** @import { Logger } from 'pino' */

/**
 * Logs an act of an administrator: one line for each act, never throttled, and never with a secret.
 *
 * @param {Logger} logger
 * @param {Response} res response to the request of the act
 * @param {string} act the log line, such as `a device was retired`
 * @param {string} target the device, account or dead letter
 */
export function audit(logger, res, act, target) {
  const { caller, requestId } = res.locals;
  logger.info({ audit: true, target, by: caller.by, address: res.req.ip, requestId }, act);
}
