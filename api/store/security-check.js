import { MillraceError } from '../../common/errors.js';

/** @import { Logger } from 'pino' */
/** @import { Session } from './session.js' */

/** What a role that serves needs; see `schema/roles.js`. */
const TO_SERVE = new Set(['SELECT', 'MODIFY']);

/**
 * What lets others in, or us do too much: `unasked`: nobody is asked who it is · `unruled`: whoever is let in may do everything ·
 * `superuser`, `more`: our role may do more than serve
 *
 * @typedef {'unasked' | 'unruled' | 'superuser' | 'more'} SecurityProblem
 */

/**
 * @param {object} parts
 * @param {Session} parts.session
 * @param {string | undefined} parts.role `CQL_USERNAME`
 * @param {() => boolean} parts.wasAsked whether a node asked for its password
 */
export function createGuard({ session, role, wasAsked }) {
  const quoted = `"${role?.replaceAll('"', '""')}"`;

  /** @returns {Promise<boolean>} */
  async function isSuperuser() {
    const row = await session.one({ name: 'list_role', cql: `LIST ROLES OF ${quoted} NORECURSIVE` }, []);
    return Boolean(row?.['super']);
  }

  /** @returns {Promise<SecurityProblem | null>} */
  async function ofRights() {
    const statement = { name: 'list_rights', cql: `LIST ALL PERMISSIONS OF ${quoted}` };
    try {
      const rows = await session.all(statement, []);
      return rows.some((row) => !TO_SERVE.has(row['permission'])) ? 'more' : null;
    } catch (error) {
      // Without an authorizer there is nothing to list.
      if (error instanceof MillraceError && error.code === 'rejected') return 'unruled';
      throw error;
    }
  }

  return {
    /**
     * How well the database is guarded, where we were given a role in it.
     *
     * @returns {Promise<SecurityProblem | null>} null: it is, or no role was given
     * @throws {MillraceError} `unavailable`
     */
    async weakness() {
      if (role === undefined) return null;
      if (!wasAsked()) return 'unasked';
      return (await isSuperuser()) ? 'superuser' : ofRights();
    },
  };
}

/** @typedef {ReturnType<typeof createGuard>} Guard */

/** @type {Record<SecurityProblem, string>} */
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
 * @param {Guard} parts.guard
 * @param {string | undefined} parts.username `CQL_USERNAME`
 * @param {Logger} parts.logger
 */
export async function logSecurityProblems({ guard, username, logger }) {
  try {
    const weakness = await guard.weakness();
    if (weakness) logger.warn({ username }, SAYS[weakness]);
  } catch (error) {
    logger.debug({ err: error, username }, 'the rights of our role cannot be read');
  }
}
