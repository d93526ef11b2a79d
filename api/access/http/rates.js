import { rateLimit } from 'express-rate-limit';
import { MillraceError } from '../../../common/errors.js';

/** @import { Request, Response } from 'express' */

/**
 * @typedef {object} Rate
 * @property {number} most
 * @property {number} windowMs within so many ms
 */

/**
 * A limit for each client address (of IPv6: each /56).
 *
 * @param {Rate & { says: string, skip?: (req: Request) => boolean }} of
 */
const limiterOf = ({ most, windowMs, says, skip = () => false }) =>
  rateLimit({
    windowMs,
    limit: most,
    skip,
    legacyHeaders: false,
    standardHeaders: false,
    // It would complain of who sends X-Forwarded-For while no proxy is trusted; it is passed over, as it should be.
    validate: { xForwardedForHeader: false, forwardedHeader: false },
    handler: (req, res, next) => {
      const { resetTime } = /** @type {any} */ (req).rateLimit;
      next(tooMany(res, says, resetTime));
    },
  });

/** @param {Response} res @param {string} says @param {Date | undefined} until */
function tooMany(res, says, until) {
  const seconds = Math.ceil(((until?.getTime() ?? 0) - Date.now()) / 1000);
  res.set('Retry-After', String(Math.max(1, seconds)));
  return new MillraceError('rate_limited', says);
}

/**
 * Wrong tokens: who has shown too many is told to wait. Right ones are served all the same: many people may share an address, and
 * a program with an old token must not shut them out. So an answer does tell who guesses whether he was right, and tokens
 * have to be such that nobody can guess them; see `common/settings/rules.js`.
 *
 * @param {Rate} rate
 */
export function createAttempts(rate) {
  const limiter = limiterOf({
    ...rate,
    says: 'Too many wrong tokens came from this address; wait for as long as Retry-After says.',
  });
  return {
    /**
     * @param {Request} req
     * @param {Response} res
     * @returns {Promise<void>}
     * @throws {MillraceError} `rate_limited`
     */
    count: (req, res) =>
      new Promise((resolve, reject) => {
        void limiter(req, res, (error) => (error ? reject(error) : resolve()));
      }),
  };
}

/** @typedef {ReturnType<typeof createAttempts>} Attempts */

/**
 * What must be answered whoever asks too much: probes and scrapes; and the files of the dashboard, which cost no more than a refusal,
 * while a page asks for a hundred of them and is broken without one.
 */
const EXEMPT = /^\/(?:healthz|readyz|metrics|assets\/.+|vendor\/.+)$/;

/**
 * All requests.
 *
 * @param {Rate} rate
 * @param {{ spareThisMachine: boolean }} options whether those are not counted that come from loopback: a proxy there that
 *   does not say for whom it asks cannot be told from a program of this machine
 */
export const limitRequests = (rate, { spareThisMachine }) =>
  limiterOf({
    ...rate,
    says: 'Too many requests come from this address; wait for as long as Retry-After says.',
    skip: (req) => EXEMPT.test(req.path) || (spareThisMachine && isNeighbour(req)),
  });

/** @param {Request} req */
const isNeighbour = (req) =>
  /^(::ffff:)?127\.|^::1$/.test(req.ip ?? '') && req.headers['x-forwarded-for'] === undefined;
