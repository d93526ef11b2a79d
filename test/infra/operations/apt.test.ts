import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { packages } from '../../../infra/operations/steps/apt.ts';
import { useDirectory } from '../../support/directory.ts';
import { run } from '../../support/operations/fakes.ts';

// A real apt runs the commands by which `upgrade` installs a version. Its package source and its list of installed packages belong
// to this test. apt only simulates the installation.

const directory = useDirectory('apt');
let env: NodeJS.ProcessEnv;

/** One release of an engine, whose packages depend on each other in the same version. */
const scylla = (version: string) => [
  ['scylla', version, `scylla-server (= ${version}), scylla-cqlsh (= ${version})`],
  ['scylla-server', version, `scylla-conf (= ${version})`],
  ['scylla-conf', version, ''],
  ['scylla-cqlsh', version, ''],
];

const cassandra = (version: string) => [
  ['cassandra', version, ''],
  ['cassandra-tools', version, `cassandra (= ${version})`],
];

const INSTALLED = [
  ...scylla('2026.1.5-0.2026a-1'),
  ...cassandra('5.0.9'),
  ['scylla-manager-agent', '3.5-1', ''],
];
const OFFERED = [
  ...INSTALLED,
  ...['2026.1.6-0.2026b-1', '2026.1.7-0.2026c-1', '2026.1.60-0.2026d-1'].flatMap(scylla),
  ...['5.0.10', '5.0.11'].flatMap(cassandra),
  ['scylla-manager-agent', '3.6-1', ''],
];

/** @param fields that each package has as well */
const listed = (list: string[][], fields: string) =>
  list
    .map(
      ([name, version, depends]) =>
        `Package: ${name}\nVersion: ${version}\nArchitecture: all\nMaintainer: nobody\nDescription: none\n${depends && `Depends: ${depends}\n`}${fields}\n`,
    )
    .join('\n');

beforeAll(() => {
  const pathOf = (path: string) => join(directory, path);
  for (const folder of [
    'bin',
    'source',
    'lists/partial',
    'archives/partial',
    'etc/preferences.d',
    'etc/apt.conf.d',
  ])
    mkdirSync(pathOf(folder), { recursive: true });
  const file =
    'Filename: none.deb\nSize: 1\nSHA256: 6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d\n';
  writeFileSync(pathOf('source/Packages'), listed(OFFERED, file));
  writeFileSync(pathOf('status'), listed(INSTALLED, 'Status: install ok installed\n'));
  writeFileSync(pathOf('etc/sources.list'), `deb [trusted=yes] copy:${pathOf('source')} ./\n`);
  writeFileSync(
    pathOf('apt.conf'),
    `Dir::State "${directory}"; Dir::State::status "${pathOf('status')}"; Dir::Cache "${directory}"; Dir::Etc "${pathOf('etc')}";
Dir::Log "${directory}"; Debug::NoLocking "true"; APT::Get::Simulate "true"; APT::Sandbox::User "";
`,
  );
  const sudo = `#!/bin/sh\ncase $1 in tee) exec tee "${pathOf('etc/preferences.d')}/\${2##*/}" ;; esac\nexec "$@"\n`;
  writeFileSync(pathOf('bin/sudo'), sudo, { mode: 0o755 });
  env = {
    ...process.env,
    APT_CONFIG: pathOf('apt.conf'),
    LC_ALL: 'C',
    PATH: `${pathOf('bin')}:${process.env['PATH']}`,
  };
});

/** Simulates the installation of an engine. */
async function chosen(engine: 'scylla' | 'cassandra', to: string) {
  const { fetch, install } = packages(engine, to);
  const runs = [];
  for (const script of [...fetch, install]) runs.push(await run('sh', ['-euc', script], env));
  return runs.map(({ code, out }) => ({
    code,
    chosen: [...out.matchAll(/^Inst (\S+) \[\S+\] \((\S+)/gm)]
      .map(([, name, version]) => `${name} ${version}`)
      .sort(),
  }));
}

test.each([
  ['scylla', '2026.1.6', scylla('2026.1.6-0.2026b-1')],
  ['cassandra', '5.0.10', cassandra('5.0.10')],
] as const)(
  'Upgrade of %s: apt chooses version %s of every package, no newer version',
  async (engine, to, wanted) => {
    const all = wanted.map(([name, version]) => `${name} ${version}`).sort();
    expect(await chosen(engine, to)).toEqual([
      { code: 0, chosen: all },
      { code: 0, chosen: all },
    ]);
  },
);

test('Upgrade of ScyllaDB: the version does not exist: apt fails with exit code 100 before a node stops', async () => {
  expect((await chosen('scylla', '2026.1.8'))[0]).toEqual({ code: 100, chosen: [] });
});
