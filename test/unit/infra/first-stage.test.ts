import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { PINNED } from '../../../infra/first-stage.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-first-stage-'));
  mkdirSync(join(folder, 'infra'));
  mkdirSync(join(folder, 'bin'));
  copyFileSync('infra/first-stage.js', join(folder, 'infra/first-stage.js'));
  write('package.json', '{ "type": "module" }');
  // In place of an older Node.js. The first stage starts the pinned one with the same flags, so this one must not be old again.
  write(
    'old.js',
    "if (!process.env.FIRST_STAGE) Object.defineProperty(process, 'versions', { value: { node: process.env.OLD } });",
  );
  write(
    'script.js',
    'console.log(JSON.stringify([process.argv.slice(2), process.execArgv])); process.exitCode = 7;',
  );
  write('bin/npm', NPM);
  chmodSync(join(folder, 'bin/npm'), 0o755);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** In place of npm: it installs a program that is this Node.js. */
const NPM = `#!/bin/sh
while [ $# -gt 1 ]; do [ "$1" != --prefix ] || prefix=$2; shift; done
[ -z "$FAIL" ] || exit 1
program="$prefix/node_modules/\${1%@*}/bin/node"
mkdir -p "\${program%/*}" && printf '#!/bin/sh\\nexec "${process.execPath}" "$@"\\n' >"$program" && chmod 755 "$program"
`;

const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

const settings = (version: string, more?: Record<string, string>) => {
  const { npm_lifecycle_event: _, FIRST_STAGE: __, NODE_OPTIONS: ___, ...rest } = process.env;
  const PATH = [join(folder, 'bin'), process.env['PATH']].join(delimiter);
  return { cwd: folder, env: { ...rest, PATH, OLD: version, ...more } };
};
const FLAGS = ['--import', './old.js', '--import', './infra/first-stage.js'];

const run = (version: string, more?: Record<string, string>) =>
  spawnSync(process.execPath, [...FLAGS, 'script.js', 'a b', '--c'], {
    encoding: 'utf8',
    ...settings(version, more),
  });

test.each([
  ['18.20.8', true],
  ['20.20.2', true],
  ['22.17.1', true],
  ['22.18.0', false],
  ['23.5.0', true],
  ['23.6.0', false],
  ['24.0.0', false],
  ['26.1.0', false],
])(
  'First stage: Node.js %s: the pinned one is installed: %j; arguments and exit code stay',
  (version, isOld) => {
    const { status, stdout, stderr } = run(version);
    expect([status, JSON.parse(stdout)[0]]).toEqual([7, ['a b', '--c']]);
    expect(stderr).toBe(
      isOld ? `Node.js ${PINNED} is installed into .node, because this is ${version}.\n` : '',
    );
    expect(existsSync(join(folder, '.node')) && readdirSync(join(folder, '.node'))).toEqual(
      isOld && [PINNED],
    );
    expect(run(version)).toMatchObject({ status: 7, stderr: '' });
  },
);

test('First stage: npm scripts: each script that starts Node.js begins with it', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const starts = Object.values<string>(scripts).filter((script) => /\bnode /.test(script));
  expect(starts.length).toBeGreaterThan(30);
  expect(starts.filter((script) => /\bnode (?!--import \.\/infra\/first-stage\.js )/.test(script))).toEqual(
    [],
  );
  expect(readFileSync('.ci/run', 'utf8')).toContain('exec node --import ./infra/first-stage.js .ci/checks');
});
