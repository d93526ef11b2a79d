import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { useDirectory } from '../../support/directory.ts';
import { makeFakes, operate, run } from '../../support/operations/fakes.ts';

// Checks the page of infra/operations against the operations.

const directory = useDirectory('operations');

/** @returns the commands on the page, for a shell */
function examples(): string[] {
  const page = readFileSync('docs/how-to/operate-a-cluster.md', 'utf8');
  return [...page.matchAll(/^ {4}(npm run operations .*)$/gm)].map(([, line]) =>
    String(line).replace('--nodes …', '--nodes a,b,c'),
  );
}

test('Operations how-to page: more than 10 examples', () => expect(examples().length).toBeGreaterThan(10));

test.each(examples())('Operations how-to page: example %s: --dry-run prints its steps', async (line) => {
  const { env } = makeFakes(join(directory, 'examples'));
  const npmFunction = 'npm() { shift 3; "$NODE" infra/operations/index.ts "$@" --dry-run; }';
  const ran = await run('sh', ['-euc', `${npmFunction}\n${line}`], { ...env, NODE: process.execPath });
  expect(ran).toMatchObject({ code: 0, errors: '', out: expect.stringContaining('# 1/') });
});

test('Operations how-to page: operations of --help: the page shows a command for each operation', async () => {
  const { out } = await operate(['--help'], process.env);
  const names = [...out.matchAll(/^ {2}([a-z-]+) {2,}/gm)].map(([, name]) => name);
  expect(names.length).toBe(6);
  const page = readFileSync('docs/how-to/operate-a-cluster.md', 'utf8');
  for (const name of names) expect(page).toContain(`npm run operations -- ${name}`);
});

test('Operations how-to page: secret files in its commands: Compose, Kubernetes and the security page use the same names', () => {
  const page = readFileSync('docs/how-to/operate-a-cluster.md', 'utf8');
  const [, section = ''] = page.split('## New secrets');
  const [, compose = '', kubernetes = ''] = section.split(/^\*\*(?:In compose|In Kubernetes|Everywhere)/m);
  for (const [text, path] of [
    [compose, 'infra/compose/init.sh'],
    [kubernetes, 'infra/kubernetes/secrets/make.sh'],
  ]) {
    const named = [...new Set(text?.match(/\b(cql|api|read|cursor|mqtt)_\w+/g))];
    expect(named.length).toBeGreaterThan(5);
    const script = readFileSync(String(path), 'utf8');
    for (const name of named) expect(script).toMatch(new RegExp(`\\b${name}\\b`));
  }
  const securePage = readFileSync('docs/how-to/secure-an-installation.md', 'utf8');
  for (const name of ['superuser', 'serve', 'migrate', 'token']) {
    expect(section).toContain(`secrets/${name}`);
    expect(securePage).toMatch(new RegExp(`secrets/${name}|in .*\\b${name}\\b.*; do`));
  }
});
