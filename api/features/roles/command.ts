import { readFileSync } from 'node:fs';
import { runCommand } from '../../../common/command.ts';
import { readCommandSettings } from '../../../common/dev-addresses.ts';
import { MillraceError, messageOf } from '../../../common/errors.ts';
import { type CommandLine, type Flag, parseFlags } from '../../../common/flags.ts';
import type { Config } from '../../../common/settings/config.ts';
import { DATABASE_SETTINGS } from '../../../common/settings/index.ts';
import { createKeyspace, DDL } from '../../../schema/migrate/cluster.ts';
import { type RoleStatement, roleStatements } from '../../../schema/roles.ts';
import { connect, isForbidden, reasonOf } from '../../store/index.ts';

const FLAGS = {
  'migrate-role': { type: 'text', help: 'the role of npm run migrate', fallback: 'millrace_migrate' },
  'migrate-password-file': { type: 'text', help: 'a file that holds its password' },
  'serve-role': { type: 'text', help: 'the role of npm start', fallback: 'millrace_serve' },
  'serve-password-file': { type: 'text', help: 'a file that holds its password' },
  'manager-role': { type: 'text', help: 'the role of ScyllaDB Manager', fallback: 'millrace_manager' },
  'manager-password-file': { type: 'text', help: 'a file that holds its password; without it none is made' },
  'dry-run': { type: 'switch', help: 'prints the statements, and does nothing' },
} satisfies Record<string, Flag>;

const LINE: CommandLine<typeof FLAGS> = {
  command: 'npm run roles --',
  help: 'Makes the database roles of npm run migrate, npm start and ScyllaDB Manager. CQL_USERNAME must be a superuser.',
  examples: [
    'npm run roles -- --dry-run',
    'npm run roles -- --migrate-password-file migrate.secret --serve-password-file serve.secret',
  ],
  flags: FLAGS,
  settings: DATABASE_SETTINGS,
};

// npm run roles: run it as a superuser. It makes the role that migrates, the role that serves, and the role of ScyllaDB Manager.
await runCommand(async () => {
  const flags = parseFlags(LINE, process.argv.slice(2));
  const { cql } = readCommandSettings('database');
  const names = {
    migrate: flags['migrate-role'],
    serve: flags['serve-role'],
    manager: flags['manager-role'],
  };
  if (new Set(Object.values(names)).size < 3) throw new MillraceError('usage', 'Two roles have one name.');
  const duties = (['migrate', 'serve', 'manager'] as const).filter(
    (duty) => duty !== 'manager' || flags['manager-password-file'] !== undefined,
  );
  const statements = duties.flatMap((duty) => {
    if (names[duty] === cql.username) {
      throw new MillraceError(
        'usage',
        `${names[duty]} is CQL_USERNAME, which makes the roles and is none of them.`,
      );
    }
    const password = readPassword(`${duty}-password-file`, flags);
    return roleStatements(cql.keyspace, duty, { name: names[duty], password });
  });
  if (flags['dry-run']) return console.log(statements.map(({ shown }) => `${shown};`).join('\n'));
  await makeRoles(cql, statements, (shown) => console.log(shown));
});

function readPassword(
  flag: `${'migrate' | 'serve' | 'manager'}-password-file`,
  flags: { [F in typeof flag]: string | undefined } & { 'dry-run': boolean | undefined },
): string {
  const path = flags[flag];
  if (path === undefined && flags['dry-run']) return 'not shown';
  if (path === undefined)
    throw new MillraceError('usage', `--${flag} must name a file that holds the password.`);
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new MillraceError('usage', `--${flag}: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Creates roles and grants their permissions. CQL_USERNAME must have the permission to create roles.
 * Permissions can only be granted in an existing keyspace, so the keyspace is created first, as the command
 * `migrate` would create it. So the role of `migrate` needs no permission beyond the keyspace.
 * @param onDone called after each statement, and for a new keyspace
 * @throws `database_away`, `bad_settings`, `failed` when the database refuses a statement
 */
async function makeRoles(cql: Config['cql'], statements: RoleStatement[], onDone: (shown: string) => void) {
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
