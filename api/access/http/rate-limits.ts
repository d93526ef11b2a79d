import type { Request, Response } from 'express';
import { type AugmentedRequest, rateLimit } from 'express-rate-limit';
import { MillraceError } from '../../../common/errors.ts';

export interface Rate {
  most: number;
  windowMs: number;
}

/** Counts by client address (by /56 network for IPv6). */
const createLimiter = ({
  most,
  windowMs,
  message,
  skip = () => false,
}: Rate & { message: string; skip?: (req: Request) => boolean }) =>
  rateLimit({
    windowMs,
    limit: most,
    skip,
    legacyHeaders: false,
    standardHeaders: false,
    // Turn off the library's warning about X-Forwarded-For. Express ignores that header while no proxy is trusted.
    validate: { xForwardedForHeader: false, forwardedHeader: false },
    handler: (req, res, next) => {
      next(tooMany(res, message, (req as AugmentedRequest)['rateLimit']?.resetTime));
    },
  });

function tooMany(res: Response, message: string, until: Date | undefined) {
  const seconds = Math.ceil(((until?.getTime() ?? 0) - Date.now()) / 1000);
  res.set('Retry-After', String(Math.max(1, seconds)));
  return new MillraceError('rate_limited', message);
}

/**
 * Requests with a valid token are still answered: a program with an old token must not lock out others at its address.
 * So an attacker learns whether a token is correct, and tokens must be impossible to guess (see
 * `common/settings/rules.ts`).
 */
export function createAttempts(rate: Rate) {
  const limiter = createLimiter({
    ...rate,
    message: 'Too many wrong tokens came from this address. Wait for the time in Retry-After.',
  });
  return {
    count: (req: Request, res: Response): Promise<void> =>
      new Promise((resolve, reject) => {
        void limiter(req, res, (error) => (error ? reject(error) : resolve()));
      }),
  };
}

export type Attempts = ReturnType<typeof createAttempts>;

/** Serving a file costs no more than refusing it, and a page that loads a hundred files breaks if one is refused. */
const EXEMPT = /^\/(?:healthz|readyz|metrics|assets\/.+|mark\.svg)$/;

/** `exemptLoopback`: requests from loopback without X-Forwarded-For do not count */
export const limitRequests = (rate: Rate, { exemptLoopback }: { exemptLoopback: boolean }) =>
  createLimiter({
    ...rate,
    message: 'Too many requests come from this address. Wait for the time in Retry-After.',
    skip: (req) => EXEMPT.test(req.path) || (exemptLoopback && isLoopbackClient(req)),
  });

const isLoopbackClient = (req: Request) =>
  /^(::ffff:)?127\.|^::1$/.test(req.ip ?? '') && req.headers['x-forwarded-for'] === undefined;
