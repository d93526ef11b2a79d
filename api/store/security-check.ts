import type { Logger } from 'pino';
import { MillraceError } from '../../common/errors.ts';
import type { Session } from './sending/session.ts';

/** Permissions of the role of a serving process: see `schema/roles.ts`. Other permissions are reported. */
const NEEDED = new Set(['SELECT', 'MODIFY']);

/**
 * `no_authentication`: the database requires no password. `no_authorization`: every role may do everything.
 * `superuser`, `excess_permissions`: the role of this process may do more than it needs.
 */
type SecurityProblem = 'no_authentication' | 'no_authorization' | 'superuser' | 'excess_permissions';

export function createSecurityCheck({
  session,
  role,
  isAuthenticated,
}: {
  session: Session;
  /** `CQL_USERNAME` */
  role: string | undefined;
  /** whether a node asked for a password */
  isAuthenticated: () => boolean;
}) {
  const quoted = `"${role?.replaceAll('"', '""')}"`;

  async function isSuperuser(): Promise<boolean> {
    const row = await session.one({ name: 'list_role', cql: `LIST ROLES OF ${quoted} NORECURSIVE` }, []);
    return Boolean(row?.['super']);
  }

  async function findExcessPermissions(): Promise<SecurityProblem | null> {
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
    /** @returns null: no problem, or CQL_USERNAME is not set @throws `unavailable` */
    async findProblem(): Promise<SecurityProblem | null> {
      if (role === undefined) return null;
      if (!isAuthenticated()) return 'no_authentication';
      return (await isSuperuser()) ? 'superuser' : findExcessPermissions();
    },
  };
}

type SecurityCheck = ReturnType<typeof createSecurityCheck>;

const MESSAGES: Record<SecurityProblem, string> = {
  no_authentication:
    'the database asks nobody for a password, so CQL_USERNAME has no effect: it lacks authenticator: PasswordAuthenticator, and authorizer: CassandraAuthorizer',
  no_authorization: 'every role of the database may do everything: it lacks authorizer: CassandraAuthorizer',
  superuser: 'CQL_USERNAME is a superuser of the database: npm run roles makes a role that only serves',
  excess_permissions:
    'CQL_USERNAME may do more in the database than serve: npm run roles makes a role that only does that',
};

/** Millrace works in spite of such a problem, so only this log line reports the problem. */
export async function logSecurityProblems({
  check,
  username,
  logger,
}: {
  check: SecurityCheck;
  /** `CQL_USERNAME` */
  username: string | undefined;
  logger: Logger;
}) {
  try {
    const problem = await check.findProblem();
    if (problem) logger.warn({ username }, MESSAGES[problem]);
  } catch (error) {
    logger.debug({ err: error, username }, 'the permissions of CQL_USERNAME cannot be read');
  }
}
