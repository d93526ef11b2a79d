import { MillraceError } from '../../common/errors.js';

/** @import { Logger } from 'pino' */
/** @import { Session } from './sending/session.js' */

/** Permissions that the database role of a serving process needs: see `schema/roles.js`. Other permissions are reported. */
const NEEDED = new Set(['SELECT', 'MODIFY']);

/**
 * A problem of the database's access control. `no_authentication`: the database requires no password.
 * `no_authorization`: every role may do everything. `superuser`, `excess_permissions`: the role of this
 * process may do more than it needs.
 *
 * @typedef {'no_authentication' | 'no_authorization' | 'superuser' | 'excess_permissions'} SecurityProblem
 */

/**
 * Creates the check of the database's access control.
 *
 * @param {object} deps
 * @param {Session} deps.session
 * @param {string | undefined} deps.role `CQL_USERNAME`
 * @param {() => boolean} deps.isAuthenticated whether a node asked for a password
 */
export function createSecurityCheck({ session, role, isAuthenticated }) {
  const quoted = `"${role?.replaceAll('"', '""')}"`;

  /** @returns {Promise<boolean>} */
  async function isSuperuser() {
    const row = await session.one({ name: 'list_role', cql: `LIST ROLES OF ${quoted} NORECURSIVE` }, []);
    return Boolean(row?.['super']);
  }

  /** @returns {Promise<SecurityProblem | null>} */
  async function findExcessPermissions() {
    const statement = { name: 'list_rights', cql: `LIST ALL PERMISSIONS OF ${quoted}` };
    try {
      const rows = await session.all(statement, []);
      return rows.some((row) => !NEEDED.has(row['permission'])) ? 'excess_permissions' : null;
    } catch (error) {
      // A server without an authorizer rejects the statement.
      if (error instanceof MillraceError && error.code === 'rejected') return 'no_authorization';
      throw error;
    }
  }

  return {
    /**
     * @returns {Promise<SecurityProblem | null>} null: no problem, or CQL_USERNAME is not set
     * @throws {MillraceError} `unavailable`
     */
    async findProblem() {
      if (role === undefined) return null;
      if (!isAuthenticated()) return 'no_authentication';
      return (await isSuperuser()) ? 'superuser' : findExcessPermissions();
    },
  };
}

/** @typedef {ReturnType<typeof createSecurityCheck>} SecurityCheck */

/** @type {Record<SecurityProblem, string>} */
const MESSAGES = {
  no_authentication:
    'the database asks nobody for a password, so CQL_USERNAME has no effect: it lacks authenticator: PasswordAuthenticator, and authorizer: CassandraAuthorizer',
  no_authorization: 'every role of the database may do everything: it lacks authorizer: CassandraAuthorizer',
  superuser: 'CQL_USERNAME is a superuser of the database: npm run roles makes a role that only serves',
  excess_permissions:
    'CQL_USERNAME may do more in the database than serve: npm run roles makes a role that only does that',
};

/**
 * Logs a problem of the access control, if CQL_USERNAME is set. Millrace works in spite of such a problem, so only this
 * log line reports the problem.
 *
 * @param {object} deps
 * @param {SecurityCheck} deps.check
 * @param {string | undefined} deps.username `CQL_USERNAME`
 * @param {Logger} deps.logger
 */
export async function logSecurityProblems({ check, username, logger }) {
  try {
    const problem = await check.findProblem();
    if (problem) logger.warn({ username }, MESSAGES[problem]);
  } catch (error) {
    logger.debug({ err: error, username }, 'the permissions of CQL_USERNAME cannot be read');
  }
}
