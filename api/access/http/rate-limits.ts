import { rateLimit } from 'express-rate-limit';
import { MillraceError } from '../../../common/errors.js';

/** @import { Request, Response } from 'express' */

/**
 * @typedef {object} Rate
 * @property {number} most requests in a window
 * @property {number} windowMs length of the window
 */

/**
 * Returns middleware that limits the requests of each client address (of each /56 network for IPv6).
 *
 * @param {Rate & { message: string, skip?: (req: Request) => boolean }} options
 */
const createLimiter = ({ most, windowMs, message, skip = () => false }) =>
  rateLimit({
    windowMs,
    limit: most,
    skip,
    legacyHeaders: false,
    standardHeaders: false,
    // Turn off the library's warning about X-Forwarded-For. Express ignores that header while no proxy is trusted.
    validate: { xForwardedForHeader: false, forwardedHeader: false },
    handler: (req, res, next) => {
      const { resetTime } = /** @type {any} */ (req).rateLimit;
      next(tooMany(res, message, resetTime));
    },
  });

/** @param {Response} res @param {string} message @param {Date | undefined} until */
function tooMany(res, message, until) {
  const seconds = Math.ceil(((until?.getTime() ?? 0) - Date.now()) / 1000);
  res.set('Retry-After', String(Math.max(1, seconds)));
  return new MillraceError('rate_limited', message);
}

/**
 * Limits wrong tokens by address. Requests with a valid token are still answered: many people may share an address, and a
 * program with an old token must not lock them out. So an attacker learns whether a token is correct, and tokens must be
 * impossible to guess (see `common/settings/rules.js`).
 *
 * @param {Rate} rate
 */
export function createAttempts(rate) {
  const limiter = createLimiter({
    ...rate,
    message: 'Too many wrong tokens came from this address. Wait for the time in Retry-After.',
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
 * Paths without a limit: probes, metrics, and the files of the dashboard. Serving a file costs no more than refusing it. A page
 * loads a hundred files and breaks if one of them is refused.
 */
const EXEMPT = /^\/(?:healthz|readyz|metrics|assets\/.+|mark\.svg)$/;

/**
 * Returns middleware that limits all requests of each client address.
 *
 * @param {Rate} rate
 * @param {{ exemptLoopback: boolean }} options `exemptLoopback`: requests from loopback without X-Forwarded-For do not count
 */
export const limitRequests = (rate, { exemptLoopback }) =>
  createLimiter({
    ...rate,
    message: 'Too many requests come from this address. Wait for the time in Retry-After.',
    skip: (req) => EXEMPT.test(req.path) || (exemptLoopback && isLoopbackClient(req)),
  });

/** @param {Request} req */
const isLoopbackClient = (req) =>
  /^(::ffff:)?127\.|^::1$/.test(req.ip ?? '') && req.headers['x-forwarded-for'] === undefined;
