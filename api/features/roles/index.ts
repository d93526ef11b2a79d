/** Roles of the database: a command makes them, and a process reports at its start if its own may do more than it needs. */
import { MillraceError } from '../../../common/errors.ts';
import { defineFeature } from '../../feature.ts';
import type { Store } from '../../store/index.ts';

/** Permissions of the role of a serving process: see `schema/roles.ts`. Other permissions are reported. */
const NEEDED = new Set(['SELECT', 'MODIFY']);

const NO_AUTHENTICATION =
  'the database asks nobody for a password, so CQL_USERNAME has no effect: it lacks authenticator: PasswordAuthenticator, and authorizer: CassandraAuthorizer';
const NO_AUTHORIZATION =
  'every role of the database may do everything: it lacks authorizer: CassandraAuthorizer';
const SUPERUSER = 'CQL_USERNAME is a superuser of the database: npm run roles makes a role that only serves';
const EXCESS_PERMISSIONS =
  'CQL_USERNAME may do more in the database than serve: npm run roles makes a role that only does that';

export const rolesFeature = defineFeature({
  name: 'roles',
  create: ({ context: { config, logger }, store }) => ({
    /** Millrace works in spite of such a problem, so only this log line reports it. */
    async start() {
      const { username } = config.cql;
      if (username === undefined) return;
      try {
        const problem = await findProblem(store, username);
        if (problem) logger.warn({ username }, problem);
      } catch (error) {
        logger.debug({ err: error, username }, 'the permissions of CQL_USERNAME cannot be read');
      }
    },
  }),
});

/** @throws `unavailable` */
async function findProblem({ session, health }: Store, username: string): Promise<string | null> {
  if (!health.isAuthenticated()) return NO_AUTHENTICATION;
  const role = `"${username.replaceAll('"', '""')}"`;
  const row = await session.one({ name: 'list_role', cql: `LIST ROLES OF ${role} NORECURSIVE` }, []);
  if (row?.['super']) return SUPERUSER;
  try {
    const rows = await session.all({ name: 'list_rights', cql: `LIST ALL PERMISSIONS OF ${role}` }, []);
    return rows.some(({ permission }) => !NEEDED.has(permission)) ? EXCESS_PERMISSIONS : null;
  } catch (error) {
    // A server without an authorizer rejects the statement.
    if (error instanceof MillraceError && error.code === 'rejected') return NO_AUTHORIZATION;
    throw error;
  }
}
