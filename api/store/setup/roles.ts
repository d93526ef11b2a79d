import cassandra from 'cassandra-driver';
import { MillraceError, messageOf } from '../../../common/errors.ts';
import type { Config } from '../../../common/settings/config.ts';
import { createKeyspace, DDL } from '../../../schema/migrate/cluster.ts';
import type { RoleStatement } from '../../../schema/roles.ts';
import { connect } from '../connect.ts';
import { innerErrors, reasonOf } from '../error-reason.ts';

/**
 * Creates roles and grants their permissions. CQL_USERNAME must have the permission to create roles.
 * Permissions can only be granted in an existing keyspace, so the keyspace is created first, as the command
 * `migrate` would create it. So the role of `migrate` needs no permission beyond the keyspace.
 * @param onDone called after each statement, and for a new keyspace
 * @throws `database_away`, `bad_settings`, `failed` when the database refuses a statement
 */
export async function makeRoles(
  cql: Config['cql'],
  statements: RoleStatement[],
  onDone: (shown: string) => void,
) {
  let isAuthenticated = false;
  const onAuthenticate = () => {
    isAuthenticated = true;
  };
  const admin = await connect(cql, { applicationName: 'millrace-roles', onAuthenticate });
  try {
    await createKeyspace(admin, cql.keyspace, onDone);
    for (const { cql: statement, shown } of statements) {
      try {
        await admin.execute(statement, [], DDL);
      } catch (error) {
        // The driver's error is not the `cause` of this error, because it contains the statement with a password.
        throw new MillraceError(
          'failed',
          `${shown}: ${reasonOf(error).replace(/\.$/, '')}. ${hint(error, { isAuthenticated, role: cql.username })}`.trim(),
        );
      }
      onDone(shown);
    }
  } finally {
    await admin.shutdown();
  }
}

function hint(
  error: unknown,
  { isAuthenticated, role }: { isAuthenticated: boolean; role: string | undefined },
): string {
  if (!isForbidden(error)) return '';
  if (isAuthenticated) return `Is ${role} a superuser there?`;
  return 'The database authenticates nobody: set authenticator: PasswordAuthenticator and authorizer: CassandraAuthorizer in its configuration, and CQL_USERNAME here.';
}

const { errors } = cassandra;

/** Protocol error code (native_protocol_v4.spec, section 9) for a missing permission. */
const UNAUTHORIZED = 0x2100;

/** Message of Cassandra if it could not read the permissions. The error has the same code as a missing permission. */
const PERMISSIONS_AWAY = /^unable to perform authorization/i;

const refusal = (error: unknown) =>
  innerErrors(error).find(
    (inner) =>
      inner instanceof errors.ResponseError &&
      inner.code === UNAUTHORIZED &&
      !PERMISSIONS_AWAY.test(inner.message),
  );

export const isForbidden = (error: unknown): boolean => refusal(error) !== undefined;

/**
 * Names the command that grants the permission. A retry cannot help, so a starting process reports this error and ends.
 * @returns null: the error is no missing permission
 */
export function missingPermission(error: unknown, role: string | undefined): MillraceError | null {
  const refused = refusal(error);
  if (!refused) return null;
  const reason = messageOf(refused);
  return new MillraceError(
    'bad_settings',
    `CQL_USERNAME=${role} has not the rights that it needs: ${reason}. npm run roles gives them.`,
    { cause: error },
  );
}
