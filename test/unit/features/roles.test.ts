import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { roleStatements } from '../../../schema/roles.ts';

const ROLE = { name: 'millrace_serve', password: "it's ; DROP" };

test('Database roles: a password in a CQL statement: quoted, and not printed', () => {
  const [, change] = roleStatements('iot', 'serve', ROLE);
  expect(change?.cql).toMatch(/^ALTER ROLE millrace_serve WITH PASSWORD = 'it''s ; DROP' AND LOGIN/);
  expect(change?.shown).not.toContain('DROP');
});

test('Database roles: role of the serving processes: SELECT and MODIFY on one keyspace, and no other permission', () => {
  const grants = roleStatements('iot', 'serve', ROLE).flatMap(({ cql }) => (/^GRANT/.test(cql) ? [cql] : []));
  expect(grants).toEqual([
    'GRANT SELECT ON KEYSPACE iot TO millrace_serve',
    'GRANT MODIFY ON KEYSPACE iot TO millrace_serve',
  ]);
});

test.each([
  'docs/how-to/set-up-scylladb-manager.md',
  'docs/how-to/operate-a-cluster.md',
  'docs/how-to/deploy-to-kubernetes.md',
])('Database roles: %s: names the role that npm run roles creates for ScyllaDB Manager', (path) => {
  const said = [...readFileSync(path, 'utf8').matchAll(/^.*sctool cluster .*--username (\w+)/gm)].map(
    ([, name]) => name,
  );
  const help = spawnSync(process.execPath, ['api/features/roles/command.ts', '--help'], {
    encoding: 'utf8',
  }).stdout;
  const made = /--manager-role .*\(default: (\w+)\)/.exec(help)?.[1];
  expect(made).toBeDefined();
  expect(said).toEqual([made]);
});

test.each([
  { ...ROLE, name: 'a role' },
  { ...ROLE, name: "x' OR" },
  { ...ROLE, name: '' },
  { ...ROLE, password: '' },
  { ...ROLE, password: 'two\nlines' },
])('Database roles: %p: refused with a usage error', (role) => {
  expect(() => roleStatements('iot', 'migrate', role)).toThrow(expect.objectContaining({ code: 'usage' }));
});
