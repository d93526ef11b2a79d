import { MillraceError } from '../../common/errors.js';
import { createKeyspace, DDL } from '../../schema/migrate/cluster.js';
import { connect } from './connect.js';
import { reasonOf } from './reason.js';
import { isForbidden } from './rights.js';

/**
 * Makes roles, by one that may: CQL_USERNAME. The keyspace has to be there before rights in it can be given, so it is
 * made as `migrate` would; then the role that migrates needs no right beyond it.
 *
 * @param {import('../../common/settings/index.js').Config['cql']} cql
 * @param {import('../../schema/roles.js').RoleStatement[]} statements
 * @param {(shown: string) => void} onDone told of each, and of a keyspace that is new
 * @throws {MillraceError} `database_away`, `bad_settings`, `failed` when the database refuses one
 */
export async function makeRoles(cql, statements, onDone) {
  let wasAsked = false;
  const onAsked = () => {
    wasAsked = true;
  };
  const admin = await connect(cql, { applicationName: 'millrace-roles', onAsked });
  try {
    await createKeyspace(admin, cql.keyspace, onDone);
    for (const { cql: statement, shown } of statements) {
      try {
        await admin.execute(statement, [], DDL);
      } catch (error) {
        // Without the cause: the driver's error holds the statement, and with it a password.
        throw new MillraceError(
          'failed',
          `${shown}: ${reasonOf(error).replace(/\.$/, '')}. ${hint(error, { wasAsked, role: cql.username })}`.trim(),
        );
      }
      onDone(shown);
    }
  } finally {
    await admin.shutdown();
  }
}

/** @param {unknown} error @param {{ wasAsked: boolean, role: string | undefined }} we @returns {string} what to look at */
function hint(error, { wasAsked, role }) {
  if (!isForbidden(error)) return '';
  if (wasAsked) return `Is ${role} a superuser there?`;
  return 'The database asks nobody who they are: set authenticator: PasswordAuthenticator and authorizer: CassandraAuthorizer in its configuration, and CQL_USERNAME here.';
}
