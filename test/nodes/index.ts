/**
 * `npm run test:nodes`: runs the unit tests on the oldest and the newest Node.js that Millrace is tested on. Exit code 1 when they fail on
 * any.
 *
 * - `npm run test:nodes -- 22.18.0 -- test/unit/common/flags.test.ts`: another version, and arguments for jest.
 * - `npm run test:nodes -- --all`: the whole `npm test`.
 */
import { spawnSync } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installNode } from '../../infra/first-stage.js';
import { testedVersions } from './versions.ts';

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
const argv = process.argv.slice(2);
const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
const versions = argv.slice(0, end).filter((word) => word !== '--all');
const wrong = versions.filter((word) => !/^\d+\.\d+\.\d+$/.test(word));
if (wrong.length > 0) {
  console.error(
    `Usage: npm run test:nodes -- [--all] [VERSION...] [-- ARGUMENTS]; no version: ${wrong.join(', ')}`,
  );
  process.exit(2);
}
const suite = argv.slice(0, end).includes('--all') ? [] : ['--unit'];
const args = ['test/run.ts', ...suite, ...argv.slice(end + 1)];
for (const version of versions.length > 0 ? versions : testedVersions()) {
  const node = version === process.versions.node ? process.execPath : installNode(version);
  // Tests start `node` and `npm` by name. So the folder of this Node.js is the first in PATH.
  const PATH = [dirname(node), process.env['PATH']].join(delimiter);
  const { status, signal } = spawnSync(node, args, { stdio: 'inherit', env: { ...process.env, PATH } });
  console.error(
    `Node.js ${version}: ${status === 0 ? 'passed' : `FAILED, ${signal ?? `exit code ${status}`}`}`,
  );
  if (signal) process.exit(1);
  if (status !== 0) process.exitCode = 1;
}
