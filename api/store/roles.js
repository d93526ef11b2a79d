import cassandra from 'cassandra-driver';
import { MillraceError } from '../../common/errors.js';
import { createKeyspace, DDL } from '../../schema/migrate/cluster.js';
import { connect } from './connect.js';
import { innerErrors, reasonOf } from './reason.js';

/** @import { Config } from '../../common/settings/config.js' */
/** @import { RoleStatement } from '../../schema/roles.js' */

/**
 * Makes roles, by one that may: CQL_USERNAME. The keyspace has to be there before rights in it can be given, so it is
 * made as `migrate` would; then the role that migrates needs no right beyond it.
 *
 * @param {Config['cql']} cql
 * @param {RoleStatement[]} statements
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

const { errors } = cassandra;

/** Protocol error code (native_protocol_v4.spec, section 9) of what a role may not do. */
const UNAUTHORIZED = 0x2100;

/** @param {unknown} error of the driver */
const refusal = (error) =>
  innerErrors(error).find((one) => one instanceof errors.ResponseError && one.code === UNAUTHORIZED);

/** @param {unknown} error of the driver @returns {boolean} whether it is for lack of a right */
export const isForbidden = (error) => refusal(error) !== undefined;

/**
 * What a role may not do stays so however often it is tried: who has just begun says it, and which command mends it.
 *
 * @param {unknown} error of the driver
 * @param {string | undefined} role
 * @returns {MillraceError | null} null: it is something else
 */
export function missingRight(error, role) {
  const refused = refusal(error);
  if (!refused) return null;
  const reason = /** @type {Error} */ (refused).message;
  return new MillraceError(
    'bad_settings',
    `CQL_USERNAME=${role} has not the rights that it needs: ${reason}. npm run roles gives them.`,
    { cause: error },
  );
}
