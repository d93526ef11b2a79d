/** @type {Record<import('./security-check.js').Weakness, string>} */
const SAYS = {
  unasked:
    'the database asks nobody for a password, whatever CQL_USERNAME is: it lacks authenticator: PasswordAuthenticator, and authorizer: CassandraAuthorizer',
  unruled: 'whoever the database lets in may do everything: it lacks authorizer: CassandraAuthorizer',
  superuser: 'CQL_USERNAME is a superuser of the database: npm run roles makes a role that only serves',
  more: 'CQL_USERNAME may do more in the database than serve: npm run roles makes a role that only does that',
};

/**
 * Says in the log where the database is open though it was meant to be guarded. It works all the same, so nothing else would.
 *
 * @param {object} parts
 * @param {import('./security-check.js').Guard} parts.guard
 * @param {string | undefined} parts.username `CQL_USERNAME`
 * @param {import('pino').Logger} parts.logger
 */
export async function noticeGuard({ guard, username, logger }) {
  try {
    const weakness = await guard.weakness();
    if (weakness) logger.warn({ username }, SAYS[weakness]);
  } catch (error) {
    logger.debug({ err: error, username }, 'the rights of our role cannot be read');
  }
}
