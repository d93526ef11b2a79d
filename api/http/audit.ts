import type { Response } from 'express';
import type { Logger } from 'pino';

/**
 * Logs an act of an administrator: one line for each act, never throttled, and never with a secret.
 * @param res response to the request of the act
 * @param act the log line, such as `a device was retired`
 * @param target the device, account or dead letter
 */
export function audit(logger: Logger, res: Response, act: string, target: string) {
  const { caller, requestId } = res.locals;
  logger.info({ audit: true, target, by: caller.by, address: res.req.ip, requestId }, act);
}
