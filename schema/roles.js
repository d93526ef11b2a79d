import { MillraceError } from '../common/errors.js';

/**
 * The permissions of each role in the keyspace. It has none elsewhere. `MODIFY` is INSERT, UPDATE and DELETE, and in both databases
 * TRUNCATE as well, because they have no finer permission. ScyllaDB Manager backs up the schema, which every role may read, and the
 * data past CQL.
 *
 * @satisfies {Record<string, string[]>}
 */
export const RIGHTS = {
  migrate: ['CREATE', 'ALTER', 'SELECT', 'MODIFY'],
  serve: ['SELECT', 'MODIFY'],
  manager: [],
};

/** @typedef {keyof typeof RIGHTS} Duty */
/** @typedef {{ name: string, password: string }} Role */

const ROLE_NAME = /^[a-z][a-z0-9_]{0,47}$/;

/** `shown` replaces `cql` in the output, because `cql` may hold a password. @typedef {{ cql: string, shown: string }} RoleStatement */

/**
 * The statements that make a role with just the rights of its duty; doing it again changes nothing but the password.
 * Valid for ScyllaDB and Cassandra: `GRANT` of one right at a time, which all versions know.
 *
 * @param {string} keyspace
 * @param {Duty} duty
 * @param {Role} role
 * @returns {RoleStatement[]}
 * @throws {MillraceError} `usage` when it cannot be a role's name or password
 */
export function roleStatements(keyspace, duty, { name, password }) {
  if (!ROLE_NAME.test(name)) {
    throw new MillraceError(
      'usage',
      `"${name}" is not a valid role name. It may contain a to z in lower case, digits and _, up to 48 characters.`,
    );
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (password === '' || /[\u0000-\u001f\u007f]/.test(password)) {
    throw new MillraceError('usage', `The password of ${name} is empty, or more than one line.`);
  }
  const change = `ALTER ROLE ${name} WITH PASSWORD =`;
  return [
    // Cassandra changes a password every 5 s at most: so a new role gets it once, by the second statement.
    ...plain(`CREATE ROLE IF NOT EXISTS ${name} WITH LOGIN = true AND SUPERUSER = false`),
    {
      cql: `${change} '${password.replaceAll("'", "''")}'${RESTRICTED}`,
      shown: `${change} '…'${RESTRICTED}`,
    },
    ...RIGHTS[duty].flatMap((right) => plain(`GRANT ${right} ON KEYSPACE ${keyspace} TO ${name}`)),
  ];
}

/** Also removes the superuser right that the role may have had. */
const RESTRICTED = ' AND LOGIN = true AND SUPERUSER = false';

/** @param {string} cql @returns {RoleStatement[]} one that may be shown as it is */
const plain = (cql) => [{ cql, shown: cql }];
