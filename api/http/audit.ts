import type { Response } from 'express';
import type { Logger } from 'pino';
import type { Caller } from '../access/http/index.ts';

/**
 * One log line for each act of an administrator, never throttled, and never with a secret. `target`: the device, account or dead letter.
 */
export function audit(logger: Logger, res: Response, act: string, target: string) {
  const { caller, requestId } = res.locals;
  logger.info(
    { audit: true, target, by: caller.by, token: caller.fingerprint, address: res.req.ip, requestId },
    act,
  );
}

/** The caller, as the log of corrections has it. */
export function actOf(res: Response, reason: string | null): { by: string; reason: string | null } {
  const { by, fingerprint } = res.locals['caller'] as Caller;
  return { by: [by, fingerprint, res.req.ip].filter(Boolean).join(' '), reason };
}
