import type { Response } from 'express';
import type { Logger } from 'pino';
import type { Caller } from '../access/http/index.ts';
import type { CorrectionRequest } from '../ingest/correction-log.ts';

/**
 * One log line for each action of an administrator, never throttled, and never with a secret. `target`: the device, account or dead letter.
 */
export function audit(logger: Logger, res: Response, action: string, target: string) {
  const { caller, requestId } = res.locals;
  logger.info(
    { audit: true, target, by: caller.by, token: caller.fingerprint, address: res.req.ip, requestId },
    action,
  );
}

export function toCorrectionRequest(res: Response, reason: string | null): CorrectionRequest {
  const { by, fingerprint } = res.locals['caller'] as Caller;
  return { by: [by, fingerprint, res.req.ip].filter(Boolean).join(' '), reason };
}
