import { MillraceError } from '../common/errors.ts';

/**
 * A role has no permissions outside the keyspace. `MODIFY` allows INSERT, UPDATE and DELETE, and also TRUNCATE, because
 * neither database has a finer permission. The role of ScyllaDB Manager needs no permission: every role may read the
 * schema, and Manager does not back up the data through CQL.
 */
export const RIGHTS = {
  migrate: ['CREATE', 'ALTER', 'SELECT', 'MODIFY'],
  serve: ['SELECT', 'MODIFY'],
  manager: [],
} satisfies Record<string, string[]>;

type Duty = keyof typeof RIGHTS;
type Role = { name: string; password: string };

const ROLE_NAME = /^[a-z][a-z0-9_]{0,47}$/;

export type RoleStatement = { cql: string; shown: string };

/**
 * If the statements run again, they only change the password. They are valid for ScyllaDB and Cassandra: each `GRANT`
 * names one permission, which all versions support.
 * @throws `usage` when the name or the password is not valid for a role
 */
export function roleStatements(keyspace: string, duty: Duty, { name, password }: Role): RoleStatement[] {
  if (!ROLE_NAME.test(name)) {
    throw new MillraceError(
      'usage',
      `"${name}" is not a valid role name. It may contain a to z in lower case, digits and _, up to 48 characters.`,
    );
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the check searches for control characters
  if (password === '' || /[\u0000-\u001f\u007f]/.test(password)) {
    throw new MillraceError('usage', `The password of ${name} is empty, or more than one line.`);
  }
  const change = `ALTER ROLE ${name} WITH PASSWORD =`;
  return [
    // Cassandra allows one password change in 5 s, so only the second statement sets the password of a new role.
    ...plain(`CREATE ROLE IF NOT EXISTS ${name} WITH LOGIN = true AND SUPERUSER = false`),
    {
      cql: `${change} '${password.replaceAll("'", "''")}'${RESTRICTED}`,
      shown: `${change} '…'${RESTRICTED}`,
    },
    ...RIGHTS[duty].flatMap((right) => plain(`GRANT ${right} ON KEYSPACE ${keyspace} TO ${name}`)),
  ];
}

/** Also removes the superuser status that an existing role may have. */
const RESTRICTED = ' AND LOGIN = true AND SUPERUSER = false';

const plain = (cql: string): RoleStatement[] => [{ cql, shown: cql }];
