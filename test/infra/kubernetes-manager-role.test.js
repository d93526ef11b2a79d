import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { KUBERNETES } from '../support/kubernetes/build.js';
import { commandsIn, standIns } from '../support/kubernetes/stand-ins.js';

// The role by which Scylla Manager reads the schema, and without which a backup cannot be restored. The pods' own shell runs here.

const SCRIPT = `${KUBERNETES}/scylla/manager-role.sh`;
const LIST = '| af1dd5cd | scylla/millrace | default | set |';

/** @type {ReturnType<typeof standIns>} */
let pods;
/** @type {string} */
let directory;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-manager-role-'));
  writeFileSync(join(directory, 'cql_password'), 'superuser-secret');
  pods = standIns({
    kubectl: `while [ "$1" != -- ]; do shift; done; shift; "$@"`,
    cqlsh: `[ -z "$REFUSED" ] || exit 2
      cp "\${1#--cqlshrc=}" "$HERE/cqlshrc"; cp "$3" "$HERE/statements"; dirname "$3" >"$HERE/where"`,
    sctool: `[ "$2" != list ] || echo "$LIST"`,
  });
});
afterAll(() => {
  pods?.remove();
  rmSync(directory, { recursive: true, force: true });
});

/** @param {string[]} args @param {Record<string, string>} [differs] */
const run = (args, differs) =>
  pods.run('bash', [SCRIPT, '--admin-password-file', join(directory, 'cql_password'), ...args], {
    LIST,
    REFUSED: '',
    ...differs,
  });

test('makes a role without rights, by the superuser, and tells Manager its password and nobody else', async () => {
  const { code, stdout, stderr, asked } = await run([]);
  expect([code, stderr]).toEqual([0, '']);
  expect(pods.kept('cqlshrc')).toBe('[authentication]\nusername = millrace\npassword = superuser-secret\n');
  const [, password = ''] = pods.kept('statements').match(/WITH PASSWORD = '([0-9a-f]{48})'/) ?? [];
  expect(pods.kept('statements').replace(password, '…')).toBe(
    'CREATE ROLE IF NOT EXISTS scylla_manager WITH LOGIN = true AND SUPERUSER = false;\n' +
      "ALTER ROLE scylla_manager WITH PASSWORD = '…' AND LOGIN = true AND SUPERUSER = false;\n",
  );
  const told = `sctool cluster update -c scylla/millrace --username scylla_manager --password ${password}`;
  expect(asked.filter((line) => line.includes(password))).toEqual([told]);
  expect(asked.join() + stdout).not.toContain('superuser-secret');
  expect(stdout).not.toContain(password);
  expect(existsSync(pods.kept('where').trim())).toBe(false);
});

test('says what failed, and does not go on', async () => {
  const refused = await run([], { REFUSED: 'yes' });
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('was not made')]);
  expect(refused.asked.filter((line) => line.startsWith('sctool '))).toEqual([]);
  for (const list of ['', LIST.replace('set', 'not set')])
    expect(await run([], { LIST: list })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no CQL credentials'),
    });
});

test('--dry-run prints the commands, and does nothing', async () => {
  const { code, stdout, asked } = await run(['--dry-run']);
  expect([code, asked]).toEqual([0, []]);
  expect(commandsIn(stdout).filter((command) => command.startsWith('kubectl '))).toHaveLength(3);
});

test('is what the page has done before the first nightly backup', () => {
  const page = readFileSync(`${KUBERNETES}/README.md`, 'utf8');
  const at = (/** @type {string} */ text) => page.indexOf(text);
  const available = at('--for=condition=Available=True scyllaclusters.scylla.scylladb.com/millrace');
  expect(at(`bash ${SCRIPT}`)).toBeGreaterThan(available);
  expect(at(`bash ${SCRIPT}`)).toBeLessThan(at('**5. The application.**'));
  expect(page).toContain('schema_with_internals.json.gz');
});
