import { randomUUID } from 'node:crypto';

/** An id that somebody else gave is taken into our log and our answers: so no more than this. */
const GIVEN = /^[\w.:+/=@-]{1,128}$/;

/**
 * Gives each request a name by which its answer and the lines of the log about it are found: that of `X-Request-Id`,
 * where a proxy or a client has given it one, or else a new one. It goes back in the same header, and in problems.
 *
 * @type {import('express').RequestHandler}
 */
export const requestId = (req, res, next) => {
  const given = req.get('X-Request-Id') ?? '';
  const id = GIVEN.test(given) ? given : randomUUID();
  res.locals['requestId'] = id;
  res.set('X-Request-Id', id);
  next();
};
